package assembly_test

import (
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
)

// told are what a user was told, by type and title, in their order.
func (w *world) told(user int64) (all []string) {
	w.t.Helper()
	rows, err := w.pool.Query(w.t.Context(), `select notification_type || ': ' || title from notifications where user_id = $1 order by (notification_type || ': ' || title) collate "C"`, user)
	w.must(err)
	defer rows.Close()
	for rows.Next() {
		var one string
		w.must(rows.Scan(&one))
		all = append(all, one)
	}
	w.must(rows.Err())
	return all
}

// repeated lets all reactions happen once more.
func (w *world) repeated() {
	w.t.Helper()
	all, err := w.store.After(w.t.Context(), 0, 10_000)
	w.must(err)
	for _, r := range all {
		w.must(w.React(w.t.Context(), r))
	}
}

func TestACustomerIsToldOfMoneyAndOfTheMachineOnce(t *testing.T) { // W-7
	t.Parallel()
	w := newWorld(t).goes()
	id, vm, _ := w.machine()
	w.must(w.back(id, "2.10"))
	user := w.provision(id).Job.User
	w.eventually("part of the money is back", func() bool { return w.often(order.Stream(id), "order.partially_refunded") == 1 })
	w.eventually("the customer is told of all of it", func() bool { return len(w.told(user)) == 4 })
	w.repeated()
	w.asks(hosting.Confirm{Ref: vm, EngineID: 9, Version: 1}) // that it runs is no news any more
	w.repeated()
	w.equal("told", w.told(user), []string{
		"billing: Nueva factura", "billing: Reembolso realizado", "success: Su pedido está activo", "vps: Su servidor virtual está listo",
	})
}

func TestAdministratorsAreToldOfTheirTenantOnce(t *testing.T) { // W-7
	t.Parallel()
	w, _ := certified(t, func(c *hosting.Certificate) { c.AutoRenew = false })
	for user, language := range map[int64]string{1: "es-MX", 2: "en", 3: "en"} {
		w.opens(user, language+string(rune('0'+user))+"@example.com", language)
	}
	w.asks(account.GrantMembership{User: 1, Tenant: 17, Role: account.Admin, At: noon}, account.GrantMembership{User: 2, Tenant: 17, Role: account.Admin, At: noon},
		account.GrantMembership{User: 3, Tenant: 17, Role: account.Member, At: noon})
	w.issues(theCertificate, noon.Add(10*24*time.Hour))
	w.asks(hosting.Tend{Ref: theCertificate, At: noon.Add(time.Hour), Served: true})
	w.asks(hosting.Decline{Ref: theSite, Code: "name_taken"})
	w.asks(w.newTenant(17))
	for _, status := range []string{hosting.Suspended, hosting.InService} {
		w.asks(hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 17}, Spec: field.Values{"status": []byte(`"` + status + `"`)}})
	}
	w.repeated()
	w.repeated()
	w.equal("the one", w.told(1), []string{
		"hosting: Certificado emitido", "hosting: Se ha rechazado un cambio", "hosting: Un certificado está a punto de caducar",
		"system: Su cuenta está suspendida", "system: Su cuenta vuelve a estar activa",
	})
	w.equal("the other", w.told(2), []string{
		"hosting: A certificate is about to expire", "hosting: A change was refused", "hosting: Certificate issued",
		"system: Your account is active again", "system: Your account is suspended",
	})
	w.equal("ids alone", w.count(`select count(*) from notifications where user_id = 1 and (
		metadata = '{"site_id":"3"}' or metadata = '{"ssl_certificate_id":"5"}' or metadata = '{"tenant_id":"17"}')`), 5)
	w.equal("a member", len(w.told(3)), 0)
}

func TestUsersAreToldOfTheirSecondFactor(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	for user, language := range map[int64]string{1: "es-MX", 2: "en"} {
		w.opens(user, language+"@example.com", language)
		w.asks(account.EnableSecondFactor{User: user, At: noon}, account.RenewRecoveryCodes{User: user, At: noon}, account.DisableSecondFactor{User: user, Reason: "lost", At: noon})
	}
	w.eventually("both are told", func() bool { return len(w.told(1)) == 3 && len(w.told(2)) == 3 })
	w.repeated()
	w.equal("in Spanish", w.told(1), []string{
		"system: El segundo factor está activado", "warning: El segundo factor está desactivado", "warning: Hay nuevos códigos de recuperación",
	})
	w.equal("in English", w.told(2), []string{"system: The second factor is on", "warning: The second factor is off", "warning: There are new recovery codes"})
	w.eventually("both have mails", func() bool {
		return len(w.mail.news("es-MX@example.com")) == 3 && len(w.mail.news("en@example.com")) == 3
	})
	for _, m := range w.mail.news("en@example.com") {
		if !strings.Contains(m.Text, "http://127.0.0.1:8080/account/second-factor/\n") {
			t.Errorf("%s leads elsewhere:\n%s", m.Subject, m.Text)
		}
	}
}
