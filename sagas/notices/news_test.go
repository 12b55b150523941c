package notices_test

import (
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas/sagastest"
)

func TestAdministratorsAreToldOfTheirTenantOnce(t *testing.T) { // W-7
	t.Parallel()
	w, _ := sagastest.Certified(t, func(c *hosting.Certificate) { c.AutoRenew = false })
	for user, language := range map[int64]string{1: "es-MX", 2: "en", 3: "en"} {
		w.Opens(user, language+string(rune('0'+user))+"@example.com", language)
	}
	w.Asks(account.GrantMembership{User: 1, Tenant: 17, Role: account.Admin, At: sagastest.Noon}, account.GrantMembership{
		User: 2, Tenant: 17, Role: account.Admin, At: sagastest.Noon,
	},
		account.GrantMembership{User: 3, Tenant: 17, Role: account.Member, At: sagastest.Noon})
	sagastest.Issues(w, sagastest.TheCertificate, sagastest.Noon.Add(10*24*time.Hour))
	w.Asks(hosting.Tend{Ref: sagastest.TheCertificate, At: sagastest.Noon.Add(time.Hour), Served: true})
	w.Asks(hosting.Decline{Ref: sagastest.TheSite, Code: "name_taken"})
	w.Asks(w.NewTenant(17))
	for _, status := range []string{hosting.Suspended, hosting.InService} {
		w.Asks(hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 17}, Spec: field.Values{"status": []byte(`"` + status + `"`)}})
	}
	w.Repeated()
	w.Repeated()
	w.Equal("the one", w.Told(1), []string{
		"hosting: Certificado emitido", "hosting: Se ha rechazado un cambio", "hosting: Un certificado está a punto de caducar",
		"system: Su cuenta está suspendida", "system: Su cuenta vuelve a estar activa",
	})
	w.Equal("the other", w.Told(2), []string{
		"hosting: A certificate is about to expire", "hosting: A change was refused", "hosting: Certificate issued",
		"system: Your account is active again", "system: Your account is suspended",
	})
	w.Equal("ids alone", w.Count(`select count(*) from notifications where user_id = 1 and (
		metadata = '{"site_id":"3"}' or metadata = '{"ssl_certificate_id":"5"}' or metadata = '{"tenant_id":"17"}')`), 5)
	w.Equal("a member", len(w.Told(3)), 0)
}

func TestUsersAreToldOfTheirSecondFactor(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	for user, language := range map[int64]string{1: "es-MX", 2: "en"} {
		w.Opens(user, language+"@example.com", language)
		w.Asks(
			account.EnableSecondFactor{User: user, At: sagastest.Noon},
			account.RenewRecoveryCodes{User: user, At: sagastest.Noon},
			account.DisableSecondFactor{User: user, Reason: "lost", At: sagastest.Noon},
		)
	}
	w.Eventually("both are told", func() bool { return len(w.Told(1)) == 3 && len(w.Told(2)) == 3 })
	w.Repeated()
	w.Equal("in Spanish", w.Told(1), []string{
		"system: El segundo factor está activado", "warning: El segundo factor está desactivado",
		"warning: Hay nuevos códigos de recuperación",
	})
	w.Equal(
		"in English", w.Told(2),
		[]string{"system: The second factor is on", "warning: The second factor is off", "warning: There are new recovery codes"},
	)
	w.Eventually("both have mails", func() bool {
		return len(w.Mail.News("es-MX@example.com")) == 3 && len(w.Mail.News("en@example.com")) == 3
	})
	for _, m := range w.Mail.News("en@example.com") {
		if !strings.Contains(m.Text, "http://127.0.0.1:8080/account/second-factor/\n") {
			t.Errorf("%s leads elsewhere:\n%s", m.Subject, m.Text)
		}
	}
}

// The end of a setup says that the machine runs. A machine that is there before is not
// announced besides; one that comes later is.
func TestAVirtualServerIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Buy(sagastest.OrderForm{Kind: "vps", Language: "en"})
	w.Becomes(id, order.StatusActive)
	w.AllTold()
	w.Equal("the customer", w.Told(w.Provision(id).Job.User), []string{"billing: A new invoice", "success: Your order is active"})
}
