package stripe

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	sdk "github.com/stripe/stripe-go/v85"

	"hostpanel/domain"
)

// failure says what a call that did not work means for the next attempt
// (docs/adapters.md, "Stripe"). Stripe's own words quote addresses and keys;
// only its codes are kept.
func failure(call string, err error) error {
	if answer, ok := errors.AsType[*sdk.Error](err); ok {
		return answered(call, answer)
	}
	if lost, ok := errors.AsType[*url.Error](err); ok {
		return unanswered(call, lost)
	}
	return domain.Fail(domain.Unknown, "garbage", fmt.Errorf("stripe, %s: the answer cannot be read", call))
}

// unanswered is a call that brought no answer: without a connection nothing can
// have been done.
func unanswered(call string, lost *url.Error) error {
	if dial, ok := errors.AsType[*net.OpError](lost.Err); ok && dial.Op == "dial" {
		return domain.Fail(domain.Transient, "unreachable", fmt.Errorf("stripe, %s: %w", call, lost.Err))
	}
	return domain.Fail(domain.Unknown, "no_answer", fmt.Errorf("stripe, %s: %w", call, lost.Err))
}

// answered is a call that Stripe has refused, or has failed to carry out.
func answered(call string, a *sdk.Error) error {
	class, code := verdict(a)
	return &domain.Failure{
		Class: class, Code: code, RetryAfter: pause(a),
		Err: fmt.Errorf("stripe, %s: answered %d, %s %s, request %s", call, a.HTTPStatusCode, a.Type, a.Code, a.RequestID),
	}
}

func verdict(a *sdk.Error) (domain.Class, string) {
	switch status := a.HTTPStatusCode; {
	case a.Type == sdk.ErrorTypeIdempotency && status != http.StatusConflict:
		return domain.Permanent, "key_reused"
	case status >= 500 && replayed(a):
		return domain.Unknown, "stored_error" // the same key will never answer anything else (rule S-6)
	case status >= 500, status == http.StatusFailedDependency, status == http.StatusRequestTimeout:
		return domain.Unknown, "server_error"
	case status == http.StatusTooManyRequests:
		return domain.Transient, "rate_limited"
	case status == http.StatusConflict:
		return domain.Transient, "key_in_use"
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return domain.Permanent, "auth_refused"
	case a.Code == sdk.ErrorCodeChargeAlreadyRefunded:
		return domain.Unknown, "already_refunded"
	case a.Code != "":
		return domain.Permanent, string(a.Code)
	}
	return domain.Permanent, "invalid_request"
}

// replayed tells whether an answer was given before, under the same key.
func replayed(a *sdk.Error) bool {
	return a.LastResponse != nil && a.LastResponse.Header.Get("Idempotent-Replayed") == "true"
}

// pause is how long Stripe asks us to wait.
func pause(a *sdk.Error) time.Duration {
	if a.LastResponse == nil {
		return 0
	}
	seconds, err := strconv.Atoi(a.LastResponse.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, time.Hour)
}

// codeOf is the code of a failure.
func codeOf(err error) string {
	if f, ok := errors.AsType[*domain.Failure](err); ok {
		return f.Code
	}
	return ""
}
