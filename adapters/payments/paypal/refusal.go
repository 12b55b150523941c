package paypal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
)

// What PayPal says in its refusals, as far as the panel acts on it.
const (
	notFound         = "RESOURCE_NOT_FOUND"
	alreadyCaptured  = "ORDER_ALREADY_CAPTURED"
	alreadyCompleted = "ORDER_ALREADY_COMPLETED"
	noAnswerYet      = "PREVIOUS_REQUEST_IN_PROGRESS"
	alreadyTokenized = "SETUP_TOKEN_ALREADY_TOKENIZED"
	notKept          = "NOT_ENABLED_TO_VAULT_PAYMENT_SOURCE"
)

// notYet are refusals that the customer can still turn around: by agreeing
// once more, or to pay in another way. Nothing was taken.
var notYet = map[string]bool{"ORDER_NOT_APPROVED": true, "INSTRUMENT_DECLINED": true, "PAYER_ACTION_REQUIRED": true}

// A refusal is PayPal's answer that it did not do something.
type refusal struct {
	status int
	name   string // "UNPROCESSABLE_ENTITY"
	issue  string // "ORDER_ALREADY_CAPTURED"
	debug  string // by which PayPal's support finds the call
	after  time.Duration
}

func (r *refusal) Error() string {
	return fmt.Sprintf("status %d %s, debug id %s", r.status, cmp.Or(r.issue, r.name, "without a reason"), cmp.Or(r.debug, "none"))
}

// says tells whether this is the reason.
func (r *refusal) says(reason string) bool { return r.issue == reason || r.name == reason }

// missing tells whether PayPal itself says that it does not have what was asked for.
func (r *refusal) missing() bool { return r.status == http.StatusNotFound && r.says(notFound) }

var (
	reasons  = regexp.MustCompile(`^[A-Za-z_]{1,64}$`)
	debugIDs = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
)

// refusalOf keeps of an answer what is certain to be no personal data.
func refusalOf(response *http.Response, raw []byte) *refusal {
	var said struct {
		Name    string `json:"name"`
		Error   string `json:"error"`
		Debug   string `json:"debug_id"`
		Details []struct {
			Issue string `json:"issue"`
		} `json:"details"`
	}
	_ = json.Unmarshal(raw, &said) // what is not PayPal's own shape says nothing
	r := &refusal{status: response.StatusCode, after: retryAfter(response.Header)}
	if name := cmp.Or(said.Name, said.Error); reasons.MatchString(name) {
		r.name = name
	}
	if len(said.Details) > 0 && reasons.MatchString(said.Details[0].Issue) {
		r.issue = said.Details[0].Issue
	}
	if debugIDs.MatchString(said.Debug) {
		r.debug = said.Debug
	}
	return r
}

// failure says what a refused call means for the next attempt
// (docs/sagas.md, "Errors").
func (r *refusal) failure(q question) error {
	class, code := domain.Permanent, strings.ToLower(cmp.Or(r.issue, r.name, "refused"))
	switch {
	case r.status == http.StatusUnauthorized:
		code = "credentials_refused"
	case r.status == http.StatusTooManyRequests:
		class, code = domain.Transient, "too_many_calls"
	case r.status == http.StatusConflict, r.says(noAnswerYet):
		class, code = domain.Unknown, "in_progress" // the same call is under way (rule P-2)
	case r.status >= 500, r.status < 400, r.status == http.StatusRequestTimeout, r.status == http.StatusNotFound && !r.says(notFound):
		class, code = domain.Unknown, "no_answer" // who answered this, and after what?
	case notYet[r.issue]:
		class = domain.Transient
	}
	if class == domain.Unknown && !q.writes() {
		class = domain.Transient
	}
	return &domain.Failure{Class: class, Code: code, RetryAfter: r.after, Err: fmt.Errorf("%s: %w", q.what, r)}
}

// classed makes a refusal a failure; what is one already passes.
func classed(q question, err error) error {
	if no, refused := errors.AsType[*refusal](err); refused {
		return no.failure(q)
	}
	return err
}

// retryAfter reads how long we are asked to wait, an hour at most.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(min(seconds, 3600))*time.Second, time.Hour)
}
