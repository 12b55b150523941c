package assembly_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/sagas"
)

func TestAPaidOrderBecomesAService(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	for _, o := range []ordering{
		{kind: "hosting"},
		{kind: "hosting", domain: "ana.example.com"},
		{kind: "vps", language: "en"},
		{kind: "saas", company: "Ana SL"},
	} {
		id := w.buy(o)
		w.becomes(id, order.StatusActive)
		w.settled(id)
		run := w.provision(id)
		for _, ref := range []hosting.Ref{{Kind: "site", ID: run.Job.Site}, {Kind: "vm", ID: run.Job.VM}} {
			if ref.ID == 0 {
				continue
			}
			r, _, err := eventstore.Fold(t.Context(), w.store, hosting.Decider, ref.Stream())
			w.must(err)
			w.equal(ref.Kind, r.Status, hosting.Running)
		}
		user, _, err := eventstore.Fold(t.Context(), w.store, account.Decider, account.Stream(run.Job.User))
		w.must(err)
		w.equal("role of the customer", user.Memberships[run.Job.Tenant], account.Admin)
		w.equal("secrets that are still on their way", w.count(`select count(*) from secret_handoff`), 0)
		w.equal("steps", len(w.happened(sagas.StreamOf(run.Key))), len(run.Steps)+1)
		step, err := w.Progress().Step(t.Context(), id)
		w.must(err)
		w.equal("where it stands for who saw it a moment too early", step, "activate")
	}
	w.equal("sites made", w.engine.creations("site/ana.example.com"), 1)
	w.eventually("the customers are told", func() bool {
		return w.count(`select count(*) from notifications where notification_type = 'success'`) == 4
	})
}

func TestTheStepsReadAsTheInterfaceSaysThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.Says("provision/1", "account", "tenant", "billing", "welcome", "activate")
	want := "create the user account if absent\ncreate the hosting tenant, VM or SaaS sub-tenant\n" +
		"create a subscription and an invoice\nsend a welcome email with credentials\nset the order status to active\n"
	w.equal("the steps", got, want)
}

func TestANewAccountGetsALinkThatWorksOnce(t *testing.T) { // C-1, C-2
	t.Parallel()
	w := newWorld(t).goes()
	id := w.buy(ordering{email: "New@Example.com"})
	w.becomes(id, order.StatusActive)
	mails := w.mail.to("New@Example.com")
	if len(mails) != 1 {
		t.Fatalf("got %d mails, want one", len(mails))
	}
	_, rest, found := strings.Cut(mails[0].Text, "http://127.0.0.1:8080/set-password/?token=")
	token, _, _ := strings.Cut(rest, "\n")
	if !found || len(token) < 43 {
		t.Fatalf("the mail has no link: %s", mails[0].Text)
	}
	user, err := w.vault().TokenUser(t.Context(), token, credentials.SetPassword)
	w.must(err)
	w.equal("whose link it is", user, w.provision(id).Job.User)
	w.equal("the token in the log", w.count(`select count(*) from events where data::text like '%' || $1 || '%'`, token), 0)
	w.equal("the token in the ledger", w.count(`select count(*) from effect where effect::text like '%' || $1 || '%'`, token), 0)
}

func TestAKnownAddressIsLetInWithoutANewAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	first := w.buy(ordering{email: "ana@example.com"})
	w.becomes(first, order.StatusActive)
	second := w.buy(ordering{email: "ANA@example.com", language: "en"})
	w.becomes(second, order.StatusActive)
	w.equal("the user", w.provision(second).Job.User, w.provision(first).Job.User)
	user, _, err := eventstore.Fold(t.Context(), w.store, account.Decider, account.Stream(w.provision(first).Job.User))
	w.must(err)
	w.equal("memberships", len(user.Memberships), 2)
	mail := w.mail.to("ANA@example.com")[0]
	if !strings.Contains(mail.Text, "/panel/\n") || strings.Contains(mail.Text, "token") {
		t.Errorf("the mail should show where to sign in: %s", mail.Text)
	}
}

func TestTwoOrdersOfOneNewAddressAtOnceOpenOneAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.place(ordering{email: "twin@example.com"}), w.place(ordering{email: "twin@example.com"})
	w.paid(a)
	w.paid(b)
	w.goes()
	w.becomes(a, order.StatusActive)
	w.becomes(b, order.StatusActive)
	w.equal("the user", w.provision(a).Job.User, w.provision(b).Job.User)
}

func TestASubTenantHangsBelowTheKeysOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	_, err := w.store.Execute(t.Context(), domain.Metadata{Actor: "test"},
		account.Open{User: 7, SubjectID: mustSubject(w, "owner@example.com"), Email: "owner@example.com", Name: "Owner", Language: "es", At: w.Now()},
		account.GrantMembership{User: 7, Tenant: 99, Role: account.Admin, At: w.Now()})
	w.must(err)
	id := w.buy(ordering{kind: "saas"})
	w.becomes(id, order.StatusActive)
	history, err := w.store.Read(t.Context(), hosting.Ref{Kind: "tenant", ID: w.provision(id).Job.Tenant}.Stream())
	w.must(err)
	spec := history[0].Event.(hosting.Requested).Values()
	w.equal("parent", string(spec["parent"]), "99")
	w.equal("machines", string(spec["saas_max_vms"]), "3")
}

func mustSubject(w *world, email string) uuid.UUID {
	subject, err := w.store.Subject(w.t.Context(), email)
	w.must(err)
	return subject
}
