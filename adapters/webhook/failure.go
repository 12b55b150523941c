package webhook

import (
	"context"
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
		Class: domain.Transient, Code: fmt.Sprintf("status_%d", a.StatusCode),
		RetryAfter: patience(a.Header.Get("Retry-After"), now), Err: said,
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

// unanswered tells what became of a call that brought no status. The side that
// stopped it is named: its own time-out is one of the endpoint. Before there
// was a connection nothing can have been sent.
func unanswered(caller, call context.Context, connected bool, err error) error {
	switch {
	case caller.Err() != nil:
		return fmt.Errorf("the call was ended: %w", context.Cause(caller))
	case errors.Is(err, errRefused):
		return refused()
	case !connected:
		return domain.Fail(domain.Transient, unreached(err), errors.New("the endpoint was not reached"))
	}
	code := "connection_lost"
	if call.Err() != nil {
		code = "timeout"
	}
	return domain.Fail(domain.Unknown, code, errors.New("the endpoint did not answer"))
}

// unreached tells why there was no connection.
func unreached(err error) string {
	var dns *net.DNSError
	var dial *net.OpError
	switch {
	case errors.As(err, &dns):
		return "dns_failed"
	case errors.As(err, &dial) && dial.Op == "dial":
		return "unreachable"
	}
	return "tls_failed"
}
