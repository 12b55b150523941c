package stripetest

import (
	"net/http"
	"time"
)

// A Kind is what goes wrong.
type Kind string

// Before means that nothing was done, after that all was. What is answered
// with an error is kept under the idempotency key, but for Busy, InUse and
// Denied, which come before the call has begun.
const (
	Slow          Kind = "slow"           // the truth, after the delay
	TimeoutBefore Kind = "timeout_before" // no answer until the delay is over, then a cut
	TimeoutAfter  Kind = "timeout_after"
	ResetBefore   Kind = "reset_before" // the connection is cut
	ResetAfter    Kind = "reset_after"
	ErrorBefore   Kind = "error_before" // 500
	ErrorAfter    Kind = "error_after"
	Busy          Kind = "busy"    // 429, asks to wait for the delay
	InUse         Kind = "in_use"  // 409: the key is at work elsewhere
	Denied        Kind = "denied"  // 401
	Garbage       Kind = "garbage" // done, but the answer is a page in HTML
	Moved         Kind = "moved"   // a redirect
)

// A Fault is ordered for the next calls of a name; an empty name is any.
type Fault struct {
	Call  string // see [Call]
	Kind  Kind
	Delay time.Duration
	Times int // 0: once
}

// Fail orders faults. The first that fits a call strikes.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Repair takes all orders for faults back.
func (s *Server) Repair() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// before lets happen what comes before a call has begun; it tells whether
// that was all.
func (s *Server) before(w http.ResponseWriter, r *http.Request, f Fault) bool {
	switch f.Kind {
	case TimeoutBefore:
		s.wait(r, f.Delay)
		cut(w)
	case ResetBefore:
		cut(w)
	case Busy:
		w.Header().Set("Retry-After", seconds(f.Delay))
		invalid("rate_limit", "", "Too many requests.").as(http.StatusTooManyRequests).write(w)
	case InUse:
		p := invalid("idempotency_key_in_use", "", "There is currently another in-progress request using this key.")
		p.kind = "idempotency_error"
		p.as(http.StatusConflict).write(w)
	case Denied:
		invalid("", "", "Invalid API Key provided: sk_****.").as(http.StatusUnauthorized).write(w)
	case Moved:
		http.Redirect(w, r, s.URL+"/elsewhere", http.StatusTemporaryRedirect)
	default:
		return false
	}
	return true
}

func (s *Server) after(w http.ResponseWriter, r *http.Request, f Fault, a answer) {
	switch f.Kind {
	case TimeoutAfter:
		s.wait(r, f.Delay)
		cut(w)
	case ResetAfter:
		cut(w)
	case Garbage:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>Bad gateway, said canary@customer.test</html>"))
	default:
		a.write(w)
	}
}

// wait lasts as long as the caller waits.
func (s *Server) wait(r *http.Request, d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	case <-s.over.Done():
	}
}

// cut ends the connection without an answer.
func cut(http.ResponseWriter) { panic(http.ErrAbortHandler) }

func seconds(d time.Duration) string {
	return formatInt(int64((d + time.Second - 1) / time.Second))
}
