package sagas_test

import (
	"sync/atomic"
	"testing"

	"hostpanel/domain/order"
	"hostpanel/sagas/sagastest"
)

func TestACallThatHangsDelaysNoOtherQueue(t *testing.T) { // N-11
	t.Parallel()
	w := sagastest.NewWorld(t)
	asked, released := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	w.Engine.Tell(func(call, _ string) error {
		if call == "create" && first.CompareAndSwap(false, true) {
			close(asked)
			<-released
		}
		return nil
	}, nil)
	w.Goes()
	held := w.Buy(sagastest.OrderForm{})
	<-asked
	w.Becomes(w.Buy(sagastest.OrderForm{Kind: "vps"}), order.StatusActive)
	w.Equal("the order whose call hangs", w.Order(held).Status, order.StatusProvisioning)
	close(released)
	w.Becomes(held, order.StatusActive)
	w.Settled(held)
}
