package notices_test

import (
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

func TestAMailServerThatIsAwayDelaysOnlyTheMail(t *testing.T) { // F-22, 5.3
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Mail.Tell(func(string, string) error { return domain.Fail(domain.Transient, "greylisted", sagastest.ErrLie) }, nil)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Email: "late@example.com"})
	w.Becomes(id, order.StatusActive)
	w.Equal("warnings", w.Order(id).Warnings, []order.Warning{order.MailWarning})
	w.Equal("effect", w.Count(`select count(*) from effect where step = 'welcome' and state = 'deferred'`), 1)
	w.Mail.Tell(nil, nil)
	w.Eventually("it is sent after all", func() bool { return w.Order(id).Mail == order.MailSent })
	w.Equal("warnings", len(w.Order(id).Warnings), 0)
	w.Equal("mails", len(w.Mail.To("late@example.com")), 1)
	w.Eventually("its run is done", func() bool { return w.RunOf("mail:"+sagas.EffectKey(id, "welcome")).Status == sagas.StatusDone })
	w.Equal("effect", w.Count(`select count(*) from effect where key = $1 and state = 'confirmed'`, sagas.EffectKey(id, "welcome")), 1)
	w.Equal("secrets on their way", w.Count(`select count(*) from secret_handoff`), 0)
}

func TestAMailThatIsRefusedForGoodIsNotTriedAgain(t *testing.T) { // F-22
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Mail.Tell(func(string, string) error { return domain.Fail(domain.Permanent, "no_such_user", sagastest.ErrLie) }, nil)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusActive)
	w.Equal("mail", w.Order(id).Mail, order.MailGivenUp)
	w.Equal("warnings", w.Order(id).Warnings, []order.Warning{order.MailWarning})
	w.Equal("tries", w.Count(`select count(*) from saga_attempt where saga_id = $1 and error_class = 'permanent'`, w.Provision(id).ID()), 1)
	w.Equal("runs", w.Count(`select count(*) from saga_run where key like 'mail:o/%'`), 0)
	w.Equal("links that still work", w.Count(`select count(*) from one_time_tokens where used_at is null and expires_at > now()`), 1)
}
