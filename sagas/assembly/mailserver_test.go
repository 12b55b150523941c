package assembly_test

import (
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
)

func TestAMailServerThatIsAwayDelaysOnlyTheMail(t *testing.T) { // F-22, 5.3
	t.Parallel()
	w := newWorld(t)
	w.mail.tell(func(string, string) error { return domain.Fail(domain.Transient, "greylisted", errLie) }, nil)
	w.goes()
	id := w.buy(ordering{email: "late@example.com"})
	w.becomes(id, order.StatusActive)
	w.equal("warnings", w.order(id).Warnings, []order.Warning{order.MailWarning})
	w.equal("effect", w.count(`select count(*) from effect where step = 'welcome' and state = 'deferred'`), 1)
	w.mail.tell(nil, nil)
	w.eventually("it is sent after all", func() bool { return w.order(id).Mail == order.MailSent })
	w.equal("warnings", len(w.order(id).Warnings), 0)
	w.equal("mails", len(w.mail.to("late@example.com")), 1)
	w.eventually("its run is done", func() bool { return w.runOf("mail:"+sagas.EffectKey(id, "welcome")).Status == sagas.StatusDone })
	w.equal("effect", w.count(`select count(*) from effect where key = $1 and state = 'confirmed'`, sagas.EffectKey(id, "welcome")), 1)
	w.equal("secrets on their way", w.count(`select count(*) from secret_handoff`), 0)
}

func TestAMailThatIsRefusedForGoodIsNotTriedAgain(t *testing.T) { // F-22
	t.Parallel()
	w := newWorld(t)
	w.mail.tell(func(string, string) error { return domain.Fail(domain.Permanent, "no_such_user", errLie) }, nil)
	w.goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusActive)
	w.equal("mail", w.order(id).Mail, order.MailGivenUp)
	w.equal("warnings", w.order(id).Warnings, []order.Warning{order.MailWarning})
	w.equal("tries", w.count(`select count(*) from saga_attempt where saga_id = $1 and error_class = 'permanent'`, w.provision(id).ID()), 1)
	w.equal("runs", w.count(`select count(*) from saga_run where key like 'mail:o/%'`), 0)
	w.equal("links that still work", w.count(`select count(*) from one_time_tokens where used_at is null and expires_at > now()`), 1)
}

func TestAMailWithoutAnAnswerIsSentTwiceAtMost(t *testing.T) { // L-3
	t.Parallel()
	w := newWorld(t)
	w.mail.tell(nil, func(string, string) error { return domain.Fail(domain.Unknown, "lost", errLie) })
	w.goes()
	id := w.buy(ordering{email: "twice@example.com"})
	w.becomes(id, order.StatusActive)
	w.eventually("it is given up", func() bool { return w.order(id).Mail == order.MailGivenUp })
	mails := w.mail.to("twice@example.com")
	w.equal("mails", len(mails), 2)
	if mails[0].MessageID != mails[1].MessageID || mails[0].Text != mails[1].Text {
		t.Error("the second mail is another message")
	}
}
