package sagas_test

import (
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas/sagastest"
)

// The secret key is rotated while the engine, the mail server and the
// provider are away: what was asked for under the old key is the same request
// under the new one.
func TestRunsGoOnAfterTheSecretKeyWasRotated(t *testing.T) {
	t.Parallel()
	w := &sagastest.World{
		T: t, Engine: sagastest.NewEngine(), Compute: sagastest.NewCompute(), Mail: sagastest.NewMail(),
		Pay: sagastest.NewPayments(), Logged: &sagastest.SyncBuffer{},
	}
	url := sagastest.Database(t)
	away := func(string, string) error { return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie) }
	w.Instance = w.Node(url)
	w.Pay.Tell(away, nil)
	waiting := w.Placed(sagastest.OrderForm{})
	if _, err := w.Payments.Pages.OpenSession(t.Context(), waiting); domain.CodeOf(err) != domain.Unavailable {
		t.Fatalf("got %v", err)
	}
	w.Pay.Reset()
	w.Engine.Tell(away, nil)
	stop := w.Start(w.Instance)
	id := w.Buy(sagastest.OrderForm{})
	w.Eventually("the engine has been asked", func() bool {
		return w.Count(
			`select count(*) from effect where step <> 'session' and state in ('intended', 'unknown', 'absent') and sends > 0`,
		) > 0
	})
	stop()

	w.Keys = eventstoretest.RotatedKeys(t)
	w.Instance = w.Node(url)
	w.Engine.Tell(nil, nil)
	w.Goes()
	w.Becomes(id, order.StatusActive)
	w.OnlyOnce(id)
	_, err := w.Payments.Pages.OpenSession(t.Context(), waiting)
	w.Must(err)
	w.Equal("status", w.Order(waiting).Status, order.StatusPaymentProcessing)
}
