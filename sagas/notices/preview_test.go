package notices_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/sagas/sagastest"
)

// looks gives a tenant a look of its own.
func looks(w *sagastest.World, tenant int64) {
	w.T.Helper()
	look := hosting.WhiteLabel{
		BrandName: "Bread", LogoURL: "https://bread.example/logo.png", PrimaryColor: "#FFCC00",
		FooterText: "Bread, S.L.", EmailFromName: "Ana of Bread", IsActive: true,
	}
	w.Asks(
		w.NewTenant(tenant),
		hosting.Request{
			Ref: hosting.Ref{Kind: "whitelabel", ID: tenant}, Tenant: tenant, Spec: look.Fields().Values(),
			Subject: uuid.New(),
		},
	)
}

func isOfBread(m notice.Mail) bool {
	return m.From == `"Ana of Bread" <panel@example.com>` && strings.Contains(m.HTML, "https://bread.example/logo.png") &&
		strings.Contains(m.HTML, "#FFCC00") && strings.Contains(m.Text, "Bread, S.L.")
}

// Notifications have the brand of the tenant that they concern, or else of the
// reader's tenant. Those of operators have the installation's brand.
func TestNewsComesInTheNameOfWhomItIsAbout(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Pauses("engine:one")
	looks(w, 7)
	w.Opens(1, "ana@example.com", "en")
	w.Opens(2, "bob@example.com", "en")
	w.Opens(3, "root@example.com", "en")
	w.Asks(
		account.GrantMembership{User: 1, Tenant: 7, Role: account.Admin, At: w.Runner.Now()},
		account.GrantSuperuser{User: 3, At: w.Runner.Now()}, account.ActivateTenant{User: 3, Tenant: 7, At: w.Runner.Now()},
	)
	w.Asks(hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 7}, Spec: field.Values{"status": []byte(`"suspended"`)}})
	w.Heard()
	of := func(address string) notice.Mail {
		t.Helper()
		w.Eventually(address+" has news", func() bool { return len(w.Mail.News(address)) > 0 })
		mails := w.Mail.News(address)
		return mails[len(mails)-1]
	}
	w.Equal("of a tenant", isOfBread(of("ana@example.com")), true)
	for user := range int64(3) {
		warns(w, user+1)
	}
	w.Eventually("Ana is warned", func() bool { return len(w.Mail.News("ana@example.com")) == 2 })
	w.Equal("of a member of a tenant", isOfBread(of("ana@example.com")), true)
	w.Equal("of a user without a tenant", isOfBread(of("bob@example.com")), false)
	w.Equal("of a superuser who looks at a tenant", isOfBread(of("root@example.com")), false)
}
