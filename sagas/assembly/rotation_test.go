package assembly_test

import (
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
)

// The secret key is rotated while the engine, the mail server and the
// provider are away: what was asked for under the old key is the same request
// under the new one.
func TestRunsGoOnAfterTheSecretKeyWasRotated(t *testing.T) {
	t.Parallel()
	w := &world{t: t, engine: newEngine(), compute: newCompute(), mail: newMail(), pay: newPayments(), logged: &syncBuffer{}}
	url := database(t)
	away := func(string, string) error { return domain.Fail(domain.Unknown, "timeout", errLie) }
	w.instance = w.node(url)
	w.pay.tell(away, nil)
	waiting := w.placed(ordering{})
	if _, err := w.Payments.OpenSession(t.Context(), waiting); domain.CodeOf(err) != domain.Unavailable {
		t.Fatalf("got %v", err)
	}
	w.pay.reset()
	w.engine.tell(away, nil)
	stop := w.start(w.instance)
	id := w.buy(ordering{})
	w.eventually("the engine has been asked", func() bool {
		return w.count(`select count(*) from effect where step <> 'session' and state in ('intended', 'unknown', 'absent') and sends > 0`) > 0
	})
	stop()

	w.keys = eventstoretest.RotatedKeys(t)
	w.instance = w.node(url)
	w.engine.tell(nil, nil)
	w.goes()
	w.becomes(id, order.StatusActive)
	w.onlyOnce(id)
	_, err := w.Payments.OpenSession(t.Context(), waiting)
	w.must(err)
	w.equal("status", w.order(waiting).Status, order.StatusPaymentProcessing)
}

// The old key is removed while an engine is away: the requests under it cannot be
// compared any more, and are no other requests for that.
func TestRunsGoOnAfterTheOldSecretKeyWasRemoved(t *testing.T) {
	t.Parallel()
	w := &world{t: t, engine: newEngine(), compute: newCompute(), mail: newMail(), pay: newPayments(), logged: &syncBuffer{}}
	url := database(t)
	old, fresh := sealing.NewSecretKey(), sealing.NewSecretKey()
	process := func(keys string) *instance {
		var err error
		w.keys, err = sealing.ParseKeyring(keys)
		w.must(err)
		return w.node(url)
	}
	w.instance = process(old)
	w.engine.tell(func(string, string) error { return domain.Fail(domain.Unknown, "timeout", errLie) }, nil)
	stop := w.start(w.instance)
	id := w.buy(ordering{domain: "between.example.com"})
	w.eventually("the engine has been asked", func() bool {
		return w.count(`select count(*) from effect where step <> 'session' and state in ('intended', 'unknown', 'absent') and sends > 0`) > 0
	})
	stop()
	during := process(fresh + "," + old)
	w.must(during.store.Sweep(t.Context()))
	w.must(credentials.Open(during.pool, during.store.Keys()).Sweep(t.Context()))
	w.instance = process(fresh)
	w.engine.tell(nil, nil)
	w.goes()
	w.becomes(id, order.StatusActive)
	w.onlyOnce(id)
}
