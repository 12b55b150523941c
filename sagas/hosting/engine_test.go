package hosting_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

func mailbox(domain int64, local, handle string) *hosting.Mailbox {
	return &hosting.Mailbox{
		MailDomain: domain, LocalPart: local, Email: local + "@example.com", Password: handle, QuotaMB: 10,
		IsActive: true,
	}
}

func TestWhatIsAskedForIsMadeAtTheEngine(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	s, m, b := h.Ask(h.Draw("site"), sagastest.Site("example.com")), h.Ask(
		h.Draw("mail_domain"), &hosting.MailDomain{Domain: "example.com", IsActive: true},
	), uuid.New()
	box := h.Ask(h.Draw("mailbox"), mailbox(m.ID, "ana", b.String()))
	h.Carrying(map[uuid.UUID]string{b: "pass-word-1"}, s, m, box) // the tenant's place is not made yet
	h.Equal("runs", h.Count(`select count(*) from saga_run where about <> ''`), 4)
	h.Goes()
	for _, ref := range []hosting.Ref{s.Ref, m.Ref, box.Ref} {
		row := h.Stands(ref, hosting.Running)
		h.Equal("sync", row.SyncStatus, "synced")
	}
	h.Quiet()
	client := h.Has("tenant", hosting.CustomerNumber(h.Tenant))
	made := h.Has("mailbox", "ana@example.com")
	h.Equal("owner", made.Owner, client.ID)
	h.Equal("parent", made.Parents["mail_domain"], h.Has("mail_domain", "example.com").ID)
	h.Equal("password", made.Secrets["password"], "pass-word-1")
	h.Equal("password in the values", sagastest.Value(made, "password"), "")
	h.Equal("known as", *h.Resource(box.Ref).EngineID, made.ID)
	h.Equal("secrets left", h.Count(`select count(*) from secret_handoff`), 0)
	for name := range h.Engine.All() {
		h.Equal(name, h.Engine.Creations(name), 1)
	}
	h.Equal("in the log", h.Count(`select count(*) from events where data::text like '%pass-word%'`), 0)
	answered, err := h.Tables.For(projections.Caller{Tenant: h.Tenant}).Hosting().Acknowledged(t.Context(), s.Ref, 1)
	h.Equal("acknowledged", answered, true)
	h.Must(err)
}

func TestAChangeReachesTheEngineAndKeepsThePassword(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	d, b := h.Ask(h.Draw("mail_domain"), &hosting.MailDomain{Domain: "example.com", IsActive: true}), uuid.New()
	box := h.Ask(h.Draw("mailbox"), mailbox(d.ID, "ana", b.String()))
	h.Carrying(map[uuid.UUID]string{b: "pass-word-1"}, d, box)
	h.Goes()
	h.Stands(box.Ref, hosting.Running)
	h.Carry(sagastest.Set(box.Ref, `{"quota_mb":77}`))
	h.Stands(box.Ref, hosting.Running)
	h.Equal("quota", sagastest.Value(h.Has("mailbox", "ana@example.com"), "quota_mb"), "77")
	h.Equal("password sent again", h.Has("mailbox", "ana@example.com").Secrets["password"], "")
	next := uuid.New()
	h.Carrying(map[uuid.UUID]string{next: "pass-word-2"}, sagastest.Set(box.Ref, fmt.Sprintf(`{"password":%q}`, next)))
	h.Stands(box.Ref, hosting.Running)
	h.Equal("password", h.Has("mailbox", "ana@example.com").Secrets["password"], "pass-word-2")
	h.Quiet()
	h.Equal("secrets left", h.Count(`select count(*) from secret_handoff`), 0)
	h.Equal("made", h.Engine.Creations("mailbox/ana@example.com"), 1)
}

func TestASecretThatIsGoneHasToBeSentAgain(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	d, b := h.Ask(h.Draw("mail_domain"), &hosting.MailDomain{Domain: "example.com", IsActive: true}), uuid.New()
	box := h.Ask(h.Draw("mailbox"), mailbox(d.ID, "ana", b.String()))
	h.Carry(d, box) // without a stored password
	h.Goes()
	row := h.Stands(box.Ref, hosting.Refused)
	h.Equal("sync", row.SyncStatus+" "+row.SyncError, "error secret_needed")
	next := uuid.New()
	h.Carrying(map[uuid.UUID]string{next: "pass-word-2"}, sagastest.Set(box.Ref, fmt.Sprintf(`{"password":%q}`, next)))
	h.Stands(box.Ref, hosting.Running)
	h.Equal("password", h.Has("mailbox", "ana@example.com").Secrets["password"], "pass-word-2")
}

// Two requests at once may each be right and make a ring together. None of it reaches the
// engine, and who asked reads why.
func TestForwardsThatMakeARingTogetherStayAwayFromTheEngine(t *testing.T) {
	t.Parallel()
	h := sagastest.NewHousehold(t)
	d := h.Ask(h.Draw("mail_domain"), &hosting.MailDomain{Domain: "example.com", IsActive: true})
	alias := func(source, to string) hosting.Request {
		return h.Ask(h.Draw("mail_alias"), &hosting.MailAlias{
			MailDomain: d.ID, Source: source, Email: source + "@example.com", Destinations: []string{to}, IsActive: true,
		})
	}
	one, two := alias("one", "two@example.com"), alias("two", "one@example.com")
	h.Carry(d, one, two)
	h.Goes()
	for _, ref := range []hosting.Ref{one.Ref, two.Ref} {
		row := h.Stands(ref, hosting.Refused)
		h.Equal("sync", row.SyncStatus+" "+row.SyncError, "error leads_back")
	}
	h.Equal("made", h.Engine.Creations("mail_alias/one@example.com")+h.Engine.Creations("mail_alias/two@example.com"), 0)
	h.Carry(sagastest.Set(two.Ref, `{"destination":["ana@elsewhere.example"]}`))
	h.Stands(two.Ref, hosting.Running)
	h.Carry(hosting.Push{Ref: one.Ref})
	h.Stands(one.Ref, hosting.Running)
}
