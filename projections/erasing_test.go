package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

func (p *panel) erase(ctx context.Context, subject uuid.UUID) error {
	_, err := p.ExecuteWith(
		ctx, domain.Metadata{Actor: "test"}, eventstore.EraseRows(subject),
		account.EraseSubject{Subject: subject, At: noon},
	)
	return err
}

// everything is all text in all read tables.
func (p *panel) everything(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	p.eachTable(func(table string) { fmt.Fprintln(&all, contents(t, p.owner, table)) })
	return all.String()
}

// secretive is a life under a name of its own, in every table that could hold it.
func (p *panel) secretive(t *testing.T, id int64, word string) (subject uuid.UUID, theirs order.Place) {
	t.Helper()
	subject = uuid.New()
	o := open(id, word+"@example.com")
	o.SubjectID, o.Name = subject, "Ana "+word
	p.do(t, o)
	o.Email = word + "-new@example.com"
	p.do(t, account.ChangeProfile{User: id, SubjectID: subject, Email: o.Email, Name: "Eva " + word, Language: "en", At: noon})
	p.do(t, account.NoteSignIn{User: id, SubjectID: subject, IP: word, Through: account.ThroughPage, At: noon})

	theirs = p.place(fmt.Sprintf("site%d.example.com", id))
	theirs.Subject, theirs.Customer = subject, order.Customer{
		Name: word, Email: word + "@example.com", Phone: word, Company: word, Details: detailed(word),
	}
	p.do(t, theirs)

	home := tenant(id, word, word+"-slug")
	home.Subject = subject
	home.Spec = values(&hosting.Tenant{
		Name: word, Email: word + "@example.com", Slug: word + "-slug", ContactName: word, CompanyName: word,
		Phone: word, TaxID: word, Address: word,
		City: word, PostalCode: word, Country: "ES", Username: hosting.CustomerNumber(id), Status: "active", IsActive: true,
	})
	p.do(t, home, hosting.Change{Ref: home.Ref, Spec: field.Values{"phone": json.RawMessage(`"` + word + `"`)}})
	p.do(t, account.GrantMembership{User: id, Tenant: id, Role: account.Admin, At: noon})
	return subject, theirs
}

// detailed are details of which each text tells the word.
func detailed(word string) buyer.Details {
	return buyer.Details{Address: word, City: word, PostalCode: word, Country: word, TaxID: word}
}

func TestNoReadTableHoldsAnErasedPerson(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	gone, theirs := p.secretive(t, 1, "zacarias")
	_, _ = p.secretive(t, 2, "yolanda")
	if n := strings.Count(p.everything(t), "zacarias"); n < 25 {
		t.Fatal("the story does not tell enough:", n)
	}
	if err := p.erase(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	live := p.everything(t)
	if strings.Contains(live, "zacarias") || strings.Count(live, "yolanda") < 25 {
		t.Fatal(live)
	}
	o, err := p.For(System).Orders().Order(t.Context(), theirs.ID)
	if err != nil || o.CustomerName != "" || o.Domain != "site1.example.com" {
		t.Fatal("the order itself stays", o, err)
	}
	p.refused(t, "domain", "site with this domain already exists.", site(9, 2, "site1.example.com", ""))
	p.do(t, tenant(3, "Zac", "zacarias-slug")) // the name is free again
	if all, err := p.For(System).Accounts().Users(t.Context(), Listing{}); err != nil || all.Count != 1 {
		t.Fatal(all, err)
	}
	if _, err := p.For(Caller{User: 9, Superuser: true}).Accounts().User(t.Context(), 1); domain.CodeOf(err) != domain.NotFound {
		t.Fatal(err)
	}
	if u, err := p.For(System).Accounts().User(t.Context(), 1); err != nil || u.Email != "" || u.ErasedAt == nil {
		t.Fatal("the program does not see that the user was erased", u, err)
	}
}

// A rebuild of the tables has no keys to read more than the live ones show.
func TestTablesBuiltAfterAnErasureAreTheLiveOnes(t *testing.T) {
	t.Parallel()
	url := database(t)
	p := openPanelAt(t, url)
	gone, _ := p.secretive(t, 1, "zacarias")
	p.secretive(t, 2, "yolanda")
	if err := p.erase(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	p.do(
		t,
		hosting.Change{
			Ref:  hosting.Ref{Kind: "tenant", ID: 1},
			Spec: field.Values{"name": json.RawMessage(`"zacarias"`), "country": json.RawMessage(`"PT"`)},
		},
	)
	live := p.everything(t)
	if strings.Contains(live, "zacarias") || !strings.Contains(live, `"PT"`) {
		t.Fatal(live)
	}
	other := openPanelAt(t, url) // a process that has never seen the key
	if err := All.rebuild(t.Context(), other.owner, other.Reader(), nil); err != nil {
		t.Fatal(err)
	}
	if rebuilt := other.everything(t); rebuilt != live {
		t.Errorf("live:\n%s\nrebuilt:\n%s", live, rebuilt)
	}
	if report, err := other.Reader().Verify(t.Context(), nil); err != nil {
		t.Error(report, err)
	}
}

func TestAnInvoiceOutlivesTheErasureOfItsCustomer(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	subject := uuid.New()
	id := uuid.New()
	p.do(t, billing.Subscribe{
		Order: id, Tenant: 5, User: 1, Plan: 1, PlanName: "Basic", BillingPeriod: "yearly", Price: amount("1"),
		Currency: "EUR", At: noon,
	}, billing.Issue{
		Order: id, Tenant: 5, SubjectID: subject, Name: "Ana Ruiz", Email: "ana@example.com", Buyer: detailed("bilbao"),
		Lines: []billing.Line{{Text: "Basic"}},
		Total: amount("1"), Subtotal: amount("1"), Tax: amount("0"), TaxRate: amount("0"), Currency: "EUR", At: noon,
	})
	if err := p.erase(t.Context(), subject); err != nil {
		t.Fatal(err)
	}
	all, err := p.For(System).Billing().Invoices(t.Context(), Listing{})
	if err != nil || len(all.Rows) != 1 || all.Rows[0].CustomerName != "Ana Ruiz" || all.Rows[0].Details() != detailed("bilbao") {
		t.Fatal(all, err)
	}
	if err := All.rebuild(t.Context(), p.owner, p.Reader(), nil); err != nil {
		t.Fatal(err)
	}
	if all, err = p.For(System).Billing().Invoices(t.Context(), Listing{}); err != nil ||
		all.Rows[0].CustomerName != "Ana Ruiz" || all.Rows[0].Details() != detailed("bilbao") {
		t.Fatal(all, err)
	}
}

// An operation that goes on about another person forgets what it said of the first one, whose
// erasure would not find it any more.
func TestAnOperationTellsOfOnePersonAtATime(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	id, first := uuid.New(), uuid.New()
	said := func(subject uuid.UUID, personal field.Values) hosting.ProgressOperation {
		return hosting.ProgressOperation{ID: id, Result: field.Values{"missing": text("1")}, Subject: subject, Personal: personal}
	}
	p.do(t, hosting.QueueOperation{ID: id, Kind: hosting.TenantSync, Tenant: 1, Sync: &hosting.Sync{}},
		said(first, field.Values{"drift": text("Hypatia")}), said(uuid.New(), nil))
	if err := p.erase(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(p.everything(t), "Hypatia") {
		t.Error("an erased person stands in a read table")
	}
}
