package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"hostpanel/domain"
)

// What the standard library says of a failed call quotes its address. Nothing
// of it is passed on but what sort of failure it was.

func refused() error { return domain.Fail(domain.Permanent, "address_refused", errRefused) }

// judge tells what a status means.
func judge(a *http.Response, now time.Time) error {
	said := fmt.Errorf("the endpoint answered %d", a.StatusCode)
	switch {
	case a.StatusCode >= 200 && a.StatusCode <= 299:
		return nil
	case a.StatusCode == http.StatusGone:
		return domain.Fail(domain.Permanent, "gone", said)
	}
	return &domain.Failure{
		Class: domain.Transient, Code: fmt.Sprintf("status_%d", a.StatusCode), RetryAfter: patience(a.Header.Get("Retry-After"), now), Err: said,
	}
}

// longestPatience is how long an endpoint is left alone at most, whatever it
// asks for.
const longestPatience = 10 * time.Hour

// patience reads a Retry-After header: seconds, or a date.
func patience(header string, now time.Time) time.Duration {
	var asked time.Duration
	if seconds, err := strconv.Atoi(header); err == nil {
		asked = time.Duration(min(seconds, int(longestPatience/time.Second))) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		asked = date.Sub(now)
	}
	return min(max(asked, 0), longestPatience)
}

// unanswered tells how far a call has come that brought no status. Whoever
// stopped it is named; its own time-out is one of the endpoint.
func unanswered(caller, call context.Context, err error) error {
	var dns *net.DNSError
	var dial *net.OpError
	var certificate *tls.CertificateVerificationError
	var handshake tls.RecordHeaderError
	var alert tls.AlertError
	var late interface{ Timeout() bool }
	class, code := domain.Unknown, "connection_lost"
	switch {
	case caller.Err() != nil:
		return fmt.Errorf("the call was ended: %w", context.Cause(caller))
	case errors.Is(err, errRefused):
		return refused()
	case errors.As(err, &dns):
		class, code = domain.Transient, "dns_failed"
	case errors.As(err, &dial) && dial.Op == "dial":
		class, code = domain.Transient, "unreachable"
	case call.Err() != nil, errors.As(err, &late) && late.Timeout():
		code = "timeout"
	case errors.As(err, &certificate), errors.As(err, &handshake), errors.As(err, &alert):
		class, code = domain.Transient, "tls_failed"
	}
	return domain.Fail(class, code, errors.New("the endpoint did not answer"))
}
