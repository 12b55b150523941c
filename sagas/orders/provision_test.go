package orders_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

func TestAPaidOrderBecomesAService(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	for _, o := range []sagastest.OrderForm{
		{Kind: "hosting"},
		{Kind: "hosting", Domain: "ana.example.com"},
		{Kind: "vps", Language: "en"},
		{Kind: "saas", Company: "Ana SL"},
	} {
		id := w.Buy(o)
		w.Becomes(id, order.StatusActive)
		w.Settled(id)
		run := w.Provision(id)
		for _, ref := range []hosting.Ref{{Kind: "site", ID: run.Job.Site}, {Kind: "vm", ID: run.Job.VM}} {
			if ref.ID == 0 {
				continue
			}
			r, _, err := eventstore.Fold(t.Context(), w.Store, hosting.Decider, ref.Stream())
			w.Must(err)
			w.Equal(ref.Kind, r.Status, hosting.Running)
		}
		user, _, err := eventstore.Fold(t.Context(), w.Store, account.Decider, account.Stream(run.Job.User))
		w.Must(err)
		w.Equal("role of the customer", user.Memberships[run.Job.Tenant], account.Admin)
		w.Equal("secrets that are still on their way",
			w.Count(`select count(*) from secret_handoff where effect_key not like 'shown/%'`), 0)
		w.Equal("steps", len(w.Happened(sagas.StreamOf(run.Key))), len(run.Steps)+1)
		step, err := w.Orders.Progress().Step(t.Context(), id)
		w.Must(err)
		w.Equal("where it stands for who saw it a moment too early", step, "activate")
	}
	w.Equal("sites made", w.Engine.Creations("site/ana.example.com"), 1)
	w.Eventually("the customers are told", func() bool {
		return w.Count(`select count(*) from notifications where notification_type = 'success'`) == 4
	})
}

func TestTheStepsReadAsTheInterfaceSaysThem(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	got := w.Runner.Says("provision/1", "account", "tenant", "billing", "welcome", "activate")
	want := "create the user account if absent\ncreate the hosting tenant, VM or SaaS sub-tenant\n" +
		"create a subscription and an invoice\nsend a welcome email with credentials\nset the order status to active\n"
	w.Equal("the steps", got, want)
}

func TestANewAccountGetsALinkThatWorksOnce(t *testing.T) { // C-1, C-2
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Buy(sagastest.OrderForm{Email: "New@Example.com"})
	w.Becomes(id, order.StatusActive)
	mails := w.Mail.To("New@Example.com")
	if len(mails) != 1 {
		t.Fatalf("got %d mails, want one", len(mails))
	}
	_, rest, found := strings.Cut(mails[0].Text, "http://127.0.0.1:8080/set-password/?token=")
	token, _, _ := strings.Cut(rest, "\n")
	if !found || len(token) < 43 {
		t.Fatalf("the mail has no link: %s", mails[0].Text)
	}
	user, err := w.Vault().TokenUser(t.Context(), token, credentials.SetPassword)
	w.Must(err)
	w.Equal("whose link it is", user, w.Provision(id).Job.User)
	w.Equal("the token in the log", w.Count(`select count(*) from events where data::text like '%' || $1 || '%'`, token), 0)
	w.Equal("the token in the ledger", w.Count(`select count(*) from effect where effect::text like '%' || $1 || '%'`, token), 0)
}

func TestAKnownAddressIsLetInWithoutANewAccount(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	first := w.Buy(sagastest.OrderForm{Email: "ana@example.com"})
	w.Becomes(first, order.StatusActive)
	second := w.Buy(sagastest.OrderForm{Email: "ANA@example.com", Language: "en"})
	w.Becomes(second, order.StatusActive)
	w.Equal("the user", w.Provision(second).Job.User, w.Provision(first).Job.User)
	user, _, err := eventstore.Fold(t.Context(), w.Store, account.Decider, account.Stream(w.Provision(first).Job.User))
	w.Must(err)
	w.Equal("memberships", len(user.Memberships), 2)
	mail := w.Mail.To("ANA@example.com")[0]
	if !strings.Contains(mail.Text, "/panel/\n") || strings.Contains(mail.Text, "token") {
		t.Errorf("the mail should show where to sign in: %s", mail.Text)
	}
}

func TestASubTenantHangsBelowTheKeysOwner(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, err := w.Store.Execute(t.Context(), domain.Metadata{Actor: "test"},
		account.Open{
			User: 7, SubjectID: sagastest.MustSubject(w, "owner@example.com"), Email: "owner@example.com",
			Name: "Owner", Language: "es", At: w.Runner.Now(),
		},
		account.GrantMembership{User: 7, Tenant: 99, Role: account.Admin, At: w.Runner.Now()})
	w.Must(err)
	id := w.Buy(sagastest.OrderForm{Kind: "saas"})
	w.Becomes(id, order.StatusActive)
	history, err := w.Store.Read(t.Context(), hosting.Ref{Kind: "tenant", ID: w.Provision(id).Job.Tenant}.Stream())
	w.Must(err)
	spec := history[0].Event.(hosting.Requested).Values()
	w.Equal("parent", string(spec["parent"]), "99")
	w.Equal("machines", string(spec["saas_max_vms"]), "3")
}

// A name at the engine that another has fails a paid order for good: operators are told.
func TestAPaidOrderWhoseNameIsTakenIsAnIncident(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Engine.Tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "tenant/") {
			return domain.Fail(domain.Permanent, "name_taken", errors.New("taken"))
		}
		return nil
	}, nil)
	id := w.Buy(sagastest.OrderForm{Domain: "shop.example.com"})
	w.Becomes(id, order.StatusFailed)
	tenant := w.Provision(id).Job.Tenant
	trouble := operations.StuckTrouble(tenant, "tenant", tenant, "name_taken")
	reported, settled := sagastest.Reports(w, trouble)
	w.Equal("reported and settled", fmt.Sprint(reported, settled), "1 0")
	w.Engine.Tell(nil, nil)
	w.Must(w.Orders.Retry(t.Context(), sagastest.Operator, id, nil, "the login is free"))
	w.Becomes(id, order.StatusActive)
	sagastest.Ends(w, trouble, 1)
}

// An order whose machine's name a stranger has can be given up. The stranger's machine stays.
func TestAPaidOrderOfAMachineWhoseNameIsTakenIsGivenUp(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	name := hosting.MachineName(w.Draw("vm") + 1)
	w.Compute.Put(compute.Seen{Name: name, ID: uuid.New(), State: compute.Running})
	id := w.Buy(sagastest.OrderForm{Kind: "vps"})
	w.Becomes(id, order.StatusFailed)
	w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, id, "the name is another's"))
	w.Refunded(id)
	w.Equal("its machine", w.Compute.Creations(id.String()), 0)
	w.Equal("the stranger's", w.Compute.All()[name].State, compute.Running)
	w.Equal("claims left", w.Count(`select count(*) from external_claim`), 0)
	w.Equal("records left", w.Count(`select count(*) from resources where status <> 'gone'`), 0)
}

// So can an order whose site a stranger has at the engine.
func TestAPaidOrderOfASiteWhoseNameIsTakenIsGivenUp(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Engine.Mu.Lock()
	w.Engine.Objects["site/shop.example.com"] = hosting.EngineObject{Kind: "site", ID: 4711, Owner: 99, Name: "shop.example.com"}
	w.Engine.Mu.Unlock()
	id := w.Buy(sagastest.OrderForm{Domain: "shop.example.com"})
	w.Becomes(id, order.StatusFailed)
	w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, id, "the name is another's"))
	w.Refunded(id)
	w.Equal("the stranger's", w.Engine.All()["site/shop.example.com"].ID, 4711)
	w.Equal("claims left", w.Count(`select count(*) from external_claim`), 0)
	w.Equal("records left", w.Count(`select count(*) from resources where status <> 'gone'`), 0)
}
