package notices_test

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/sagas/sagastest"
)

func TestATenantsMailsComeFromTheTenant(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	does := func(commands ...domain.Command) {
		t.Helper()
		_, err := w.Store.Execute(t.Context(), domain.Metadata{Actor: "test"}, commands...)
		w.Must(err)
	}
	look := hosting.WhiteLabel{BrandName: "Bread", IsActive: true}
	ref := hosting.Ref{Kind: "whitelabel", ID: 1}
	changes := func() { does(hosting.Change{Ref: ref, Spec: look.Fields().Values()}) }
	receives := hosting.MailDomain{Domain: "bread.example", IsActive: true}

	w.Opens(1, "ana@example.com", "en")
	does(hosting.Request{
		Ref: hosting.Ref{Kind: "tenant", ID: 7}, Tenant: 7, Spec: (&hosting.Tenant{Name: "Bread"}).Fields().Values(),
		For: "order:none",
	},
		account.GrantMembership{User: 1, Tenant: 7, Role: account.Member, At: w.Runner.Now()})
	for i, c := range []struct {
		name           string
		happens        func()
		from, answerTo string
	}{
		{"without a look", func() {}, sagastest.PanelAddress, ""},
		{"with a brand", func() {
			does(hosting.Request{Ref: ref, Tenant: 7, Spec: look.Fields().Values(), Subject: uuid.New()})
		}, `"Bread" <panel@example.com>`, ""},
		{"with an address that any tenant could claim", func() {
			look.EmailFromName, look.EmailFromEmail = "Ana", "hello@bread.example"
			changes()
		}, `"Ana" <panel@example.com>`, "hello@bread.example"},
		{"with an address in a mail domain of its own that is not proven", func() {
			does(
				hosting.Request{
					Ref: hosting.Ref{Kind: "mail_domain", ID: 1}, Tenant: 7, Spec: receives.Fields().Values(),
					For: "order:none",
				},
			)
		}, `"Ana" <panel@example.com>`, "hello@bread.example"},
		{"with one that is proven", func() {
			look.SenderDomain = "bread.example"
			changes()
		}, `"Ana" <hello@bread.example>`, ""},
		{"with another that is not", func() {
			look.EmailFromEmail = "hello@milk.example"
			changes()
		}, `"Ana" <panel@example.com>`, "hello@milk.example"},
		{"with its look switched off", func() {
			look.IsActive = false
			changes()
		}, sagastest.PanelAddress, ""},
	} {
		c.happens()
		_, err := w.Accounts.Link(t.Context(), domain.Metadata{Actor: "operator:1"}, 1, true)
		w.Must(err)
		m := w.Mailed("ana@example.com", i+1)
		w.Equal(c.name, [2]string{m.From, m.ReplyTo}, [2]string{c.from, c.answerTo})
	}
}
