package ispconfig_test

import (
	"crypto/x509"
	"io"
	"log"
	"net/http/httptest"
	"testing"

	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/domain"
)

// A4: a certificate covers what a handshake says, whatever the flags say.
func TestAHandshakeTellsWhichNamesAreCovered(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	address := server.Listener.Addr().String()

	expires, err := ispconfig.Served(t.Context(), address, "example.com", roots)
	if err != nil || !expires.Equal(server.Certificate().NotAfter) {
		t.Error(expires, err)
	}
	_, err = ispconfig.Served(t.Context(), address, "www.acme.test", roots)
	refused(t, err, domain.Permanent, "not_covered")
	_, err = ispconfig.Served(t.Context(), address, "example.com", x509.NewCertPool())
	refused(t, err, domain.Permanent, "not_covered")
	_, err = ispconfig.Served(t.Context(), "127.0.0.1:1", "example.com", roots)
	refused(t, err, domain.Transient, "no_handshake")
}
