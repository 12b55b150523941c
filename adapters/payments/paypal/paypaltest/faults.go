package paypaltest

import (
	"context"
	"net/http"
	"time"
)

// What can go wrong with a call.
const (
	FailBefore  = "fail_before"  // 500, nothing done
	FailAfter   = "fail_after"   // 500, and yet done
	HangBefore  = "hang_before"  // no answer, nothing done
	HangAfter   = "hang_after"   // no answer, and yet done
	ResetBefore = "reset_before" // connection cut, nothing done
	ResetAfter  = "reset_after"  // connection cut, and yet done
	Slow        = "slow"         // done and answered, but late
	SlowInside  = "slow_inside"  // the same, and an equal call meanwhile fails
	Busy        = "busy"         // 429
	Garbage     = "garbage"      // done, and the answer is no JSON
	Redirect    = "redirect"     // elsewhere, nothing done
)

// A Fault strikes calls of one sort: "token", "create", "get", "patch", "capture",
// "refund", "setup", "get setup", "finish", "list", "forget" or "certificate".
type Fault struct {
	Call  string
	What  string
	For   time.Duration // of Slow
	Times int           // 0: once
	To    string        // of Redirect
}

// Break orders a fault. The oldest that matches strikes, one for each call.
func (p *PayPal) Break(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.Times = max(1, f.Times)
	p.faults = append(p.faults, &f)
}

// Repair takes all faults back.
func (p *PayPal) Repair() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = nil
}

func (p *PayPal) strike(call string) *Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[call]++
	for _, f := range p.faults {
		if f.Call == call && f.Times > 0 {
			f.Times--
			return f
		}
	}
	return nil
}

type faultKey struct{}

func faultOf(r *http.Request) *Fault {
	f, _ := r.Context().Value(faultKey{}).(*Fault)
	return f
}

// around makes an endpoint suffer what was ordered for it.
func (p *PayPal) around(call string, endpoint func(*http.Request) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f := p.strike(call)
		if f == nil {
			write(w, endpoint(r))
			return
		}
		p.suffer(w, r.WithContext(context.WithValue(r.Context(), faultKey{}, f)), f, endpoint)
	}
}

func (p *PayPal) suffer(w http.ResponseWriter, r *http.Request, f *Fault, endpoint func(*http.Request) reply) {
	failed := refuse(http.StatusInternalServerError, "INTERNAL_SERVER_ERROR", "INTERNAL_SERVICE_ERROR")
	switch f.What {
	case FailAfter, HangAfter, ResetAfter, Garbage:
		endpoint(r)
	}
	switch f.What {
	case FailBefore, FailAfter:
		write(w, failed)
	case HangBefore, HangAfter:
		p.rest(r.Context(), time.Hour)
		panic(http.ErrAbortHandler)
	case ResetBefore, ResetAfter:
		panic(http.ErrAbortHandler)
	case Slow:
		p.rest(r.Context(), f.For)
		write(w, endpoint(r))
	case Busy:
		w.Header().Set("Retry-After", "7")
		write(w, refuse(http.StatusTooManyRequests, "RATE_LIMIT_REACHED", "RATE_LIMIT_REACHED"))
	case Garbage:
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write([]byte("<html>Ada Canary</html>"))
	case Redirect:
		http.Redirect(w, r, f.To, http.StatusTemporaryRedirect)
	default:
		write(w, endpoint(r))
	}
}

// rest waits, unless the caller goes away or the test ends.
func (p *PayPal) rest(ctx context.Context, how time.Duration) {
	select {
	case <-ctx.Done():
	case <-p.alive.Done():
	case <-time.After(how):
	}
}
