package ispconfig

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"hostpanel/domain"
)

const handshakeLimit = 10 * time.Second

// Served asks a web server for the certificate of a name and tells until when
// it is valid. An order leaves names out in silence, so each name that should
// be covered has to be asked for. Address is "host:port"; nil roots are the
// system's. A certificate that does not cover the name, or is not trusted, is
// permanent ("not_covered"); a server that does not answer is transient.
func Served(ctx context.Context, address, name string, roots *x509.CertPool) (expires time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{ServerName: name, RootCAs: roots, MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if _, wrong := errors.AsType[*tls.CertificateVerificationError](err); wrong {
		return time.Time{}, domain.Fail(domain.Permanent, "not_covered", fmt.Errorf("%s: %w", name, err))
	}
	if err != nil {
		return time.Time{}, domain.Fail(domain.Transient, "no_handshake", fmt.Errorf("%s: %w", name, err))
	}
	defer func() { _ = conn.Close() }()
	return leaf(conn, name)
}

// servedBy asks the host of an engine by its URL.
func servedBy(engine string) func(context.Context, string) (time.Time, error) {
	return func(ctx context.Context, domain string) (time.Time, error) {
		at, err := url.Parse(engine)
		if err != nil {
			return time.Time{}, fmt.Errorf("read the engine's URL: %w", err)
		}
		return Served(ctx, net.JoinHostPort(at.Hostname(), "443"), domain, nil)
	}
}

func leaf(conn net.Conn, name string) (time.Time, error) {
	secured, ok := conn.(*tls.Conn)
	if !ok || len(secured.ConnectionState().PeerCertificates) == 0 {
		return time.Time{}, domain.Fail(domain.Transient, "no_handshake", fmt.Errorf("%s: no certificate", name))
	}
	return secured.ConnectionState().PeerCertificates[0].NotAfter, nil
}
