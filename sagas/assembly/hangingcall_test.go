package assembly_test

import (
	"sync/atomic"
	"testing"

	"hostpanel/domain/order"
)

func TestACallThatHangsDelaysNoOtherQueue(t *testing.T) { // N-11
	t.Parallel()
	w := newWorld(t)
	asked, released := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	w.engine.tell(func(call, _ string) error {
		if call == "create" && first.CompareAndSwap(false, true) {
			close(asked)
			<-released
		}
		return nil
	}, nil)
	w.goes()
	held := w.buy(ordering{})
	<-asked
	w.becomes(w.buy(ordering{kind: "vps"}), order.StatusActive)
	w.equal("the order whose call hangs", w.order(held).Status, order.StatusProvisioning)
	close(released)
	w.becomes(held, order.StatusActive)
	w.settled(held)
}
