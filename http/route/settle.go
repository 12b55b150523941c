package route

import "errors"

// A caller may have been remembered instead of looked up. Before anything is
// sent it is settled whether they still are who they were; if they are not, the
// call starts again (docs/security.md, "Tokens").

// errAgain ends the checks: the caller has to be looked up.
var errAgain = errors.New("start again")

// end is the end of the checks: an answer, a refusal, or a new start.
func (x *exchange) end(err error) {
	if errors.Is(err, errAnswered) {
		return
	}
	if unsettled := x.settle(); unsettled != nil {
		err = unsettled
	}
	if errors.Is(err, errAgain) {
		x.again()
		return
	}
	if err = x.overtaken(err); !errors.Is(err, errAnswered) {
		x.refuse(err)
	}
}

// settle makes sure of a caller who was remembered, and spends their call. It
// comes before anything that is sent.
func (x *exchange) settle() error {
	settle := x.call.Caller.Settle
	if settle == nil {
		return nil
	}
	left, ok := settle(x.r.Context())
	if !ok {
		return errAgain
	}
	x.call.Caller.Settle = nil
	return x.spend(left)
}

// again starts the call anew, and has its caller looked up.
func (x *exchange) again() {
	clear(x.w.Header())
	*x = exchange{
		t: x.t, w: x.w, r: x.r, whole: x.whole, started: x.started, body: x.body, isRead: x.isRead, unread: x.unread,
		held: x.held, fresh: true,
	}
	x.begin()
	x.run()
}
