package projections

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/notice"
)

func open(id int64, email string) account.Open {
	return account.Open{User: id, SubjectID: uuid.New(), Email: email, Name: "Ana", Language: "es", At: noon}
}

func TestAnAddressHasOneAccountInWhateverCase(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, open(1, "ana@example.com"))
	p.refused(t, "email", "user with this email already exists.", open(2, "Ana@Example.com"))
	u, found, err := p.For(System).Accounts().UserByEmail(t.Context(), " ANA@example.com ")
	if err != nil || !found || u.ID != 1 || !u.IsActive || u.HasPassword {
		t.Fatal(u, found, err)
	}
	if _, found, err := p.For(System).Accounts().UserByEmail(t.Context(), ""); found || err != nil {
		t.Fatal(found, err)
	}
}

func TestManyOrdersOfOneNewCustomerOpenOneAccount(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	results := make(chan error, 12)
	for i := range cap(results) {
		go func() { results <- p.try(t, open(int64(i+1), "ana@example.com")) }()
	}
	won := 0
	for range cap(results) {
		if err := <-results; err == nil {
			won++
		} else if domain.CodeOf(err) != domain.Invalid {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Fatal(won)
	}
}

func TestAMemberActsForTheirTenant(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, open(1, "ana@example.com"), tenant(5, "Ana SL", "ana"), tenant(6, "Six", "six"))
	p.do(t, account.GrantMembership{User: 1, Tenant: 5, Role: account.Admin, At: noon}, account.ChangePassword{User: 1, At: noon})
	p.do(t, account.GrantMembership{User: 1, Tenant: 6, Role: account.Member, At: noon})
	own := p.For(Caller{User: 1})
	u, err := own.Accounts().User(t.Context(), 1)
	if err != nil || *u.ActiveTenant != 5 || !u.HasPassword || u.Version != 5 {
		t.Fatal(u, err)
	}
	of, err := own.Accounts().Memberships(t.Context(), 1)
	if err != nil || len(of) != 2 || of[0].TenantName != "Ana SL" || of[0].Role != account.Admin || of[1].Role != account.Member {
		t.Fatal(of, err)
	}
	p.do(t, account.RevokeMembership{User: 1, Tenant: 5, At: noon})
	if u, err = own.Accounts().User(t.Context(), 1); err != nil || *u.ActiveTenant != 6 {
		t.Fatal(u, err)
	}
	members, err := p.For(Caller{User: 1, Tenant: 6}).Accounts().Members(t.Context(), 6)
	if err != nil || len(members) != 1 {
		t.Fatal(members, err)
	}
}

func TestAccountsAreSeenByThemselvesAndByOperators(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, open(1, "ana@example.com"))
	p.do(t, account.GrantMembership{User: 1, Tenant: 5, Role: account.Member, At: noon})
	for _, c := range []struct {
		caller Caller
		sees   bool
	}{
		{Caller{User: 1}, true},
		{Caller{User: 2, Superuser: true}, true},
		{System, true},
		{Caller{User: 2, Tenant: 5}, false},
		{Caller{}, false},
		{Caller{KeyOwner: 1}, false},
	} {
		_, err := p.For(c.caller).Accounts().User(t.Context(), 1)
		of, listed := p.For(c.caller).Accounts().Memberships(t.Context(), 1)
		if c.sees != (err == nil) || c.sees != (len(of) == 1) || listed != nil {
			t.Errorf("%+v: %v %v", c.caller, err, of)
		}
	}
	if members, err := p.For(Caller{User: 9, Tenant: 6}).Accounts().Members(t.Context(), 5); err != nil || len(members) != 0 {
		t.Fatal(members, err)
	}
}

func TestSuperusersAreThoseWhoMayStillSignIn(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	for i, email := range []string{"a@example.com", "b@example.com", "c@example.com"} {
		c := open(int64(i+1), email)
		c.Superuser = i > 0
		p.do(t, c)
	}
	p.do(t, account.Deactivate{User: 2, At: noon})
	all, err := p.For(System).Accounts().Superusers(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != 3 {
		t.Fatal(all, err)
	}
}

func TestACustomerIsBilledOnceForAnOrder(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	id := uuid.New()
	issue := billing.Issue{
		Order: id, Tenant: 5, SubjectID: uuid.New(), Name: "Ana", Email: "ana@example.com", Lines: []billing.Line{{Text: "Basic"}},
		Total: amount("28.70"), Subtotal: amount("23.72"), Tax: amount("4.98"), TaxRate: amount("21"), Currency: "EUR", At: noon,
	}
	p.do(
		t,
		billing.Subscribe{
			Order: id, Tenant: 5, User: 1, Plan: 1, PlanName: "Basic", BillingPeriod: "yearly",
			Price: amount("28.704"), Currency: "EUR", At: noon,
		},
		issue,
	)
	p.do(t, issue)
	s := p.For(Caller{User: 1, Tenant: 5})
	sub, found, err := s.Billing().SubscriptionOfOrder(t.Context(), id)
	if err != nil || !found || sub.Status != billing.Running || !sub.PeriodEnd.Equal(noon.AddDate(1, 0, 0)) {
		t.Fatal(sub, found, err)
	}
	invoice, found, err := s.Billing().InvoiceOfOrder(t.Context(), id)
	if err != nil || !found || invoice.Number != "INV-2026-000001" || !invoice.Total.Equal(amount("28.7")) {
		t.Fatal(invoice, found, err)
	}
	p.do(t, billing.End{Order: id, Reason: "ended", At: noon})
	if sub, _, _ = s.Billing().SubscriptionOfOrder(t.Context(), id); sub.Status != billing.Over || sub.EndReason != "ended" {
		t.Fatal(sub)
	}
	for _, other := range []Caller{{}, {User: 1}, {User: 2, Tenant: 6}} {
		_, found, err := p.For(other).Billing().InvoiceOfOrder(t.Context(), id)
		all, listed := p.For(other).Billing().Invoices(t.Context(), Listing{})
		if found || err != nil || listed != nil || len(all.Rows) != 0 {
			t.Errorf("%+v sees %v %v", other, found, all)
		}
	}
	if all, err := p.For(Caller{Superuser: true}).Billing().Invoices(t.Context(), Listing{}); err != nil || len(all.Rows) != 1 {
		t.Fatal(all, err)
	}
}

func TestAUserReadsOwnNotificationsOnly(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	raise := func(user int64) uuid.UUID {
		id := uuid.New()
		p.do(t, notice.Raise{
			ID: id, InApp: true, Mail: true, User: user,
			Text:     notice.Text{Type: notice.Success, Title: "Ready", Message: "It runs.", URL: "/orders/1/"},
			Metadata: map[string]string{"order_id": "1"}, At: noon,
		})
		return id
	}
	first, second, _ := raise(1), raise(1), raise(2)
	s := p.For(Caller{User: 1, Superuser: true})
	all, err := s.Notices().Notifications(t.Context(), Listing{})
	if err != nil || all.Count != 2 || all.Rows[0].ID != second || all.Rows[0].IsRead {
		t.Fatal(all, err)
	}
	p.do(t, notice.MarkRead{ID: first, At: noon}, notice.ConfirmMail{ID: first, At: noon})
	if n, err := s.Notices().Unread(t.Context()); err != nil || n.Count != 1 {
		t.Fatal(n, err)
	}
	unread, err := s.Notices().Notifications(t.Context(), Listing{Filters: []Filter{{Field: "is_read", Op: "=", Value: false}}})
	if err != nil || unread.Count != 1 || unread.Rows[0].ID != second {
		t.Fatal(unread, err)
	}
	n, err := s.Notices().Notification(t.Context(), first)
	if err != nil || !n.IsRead || n.ReadAt == nil || !n.IsEmailSent {
		t.Fatal(n, err)
	}
	n.ReadAt, n.CreatedAt = nil, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	want := `{"id":"` + first.String() + `","notification_type":"success","title":"Ready","message":"It runs.",` +
		`"url":"/orders/1/","is_read":true,"is_email_sent":true,"created_at":"2026-01-01T00:00:00Z","read_at":null,` +
		`"metadata":{"order_id":"1"}}`
	if text := shown(t, &n); text != want {
		t.Fatalf("\n%s\n%s", text, want)
	}
	if _, err := p.For(Caller{User: 2}).Notices().Notification(t.Context(), first); err == nil ||
		err.Error() != "No Notification matches the given query." {
		t.Fatal(err)
	}
	p.do(t, notice.Unread{ID: first}, notice.Delete{ID: second})
	if all, err = s.Notices().Notifications(t.Context(), Listing{}); err != nil || all.Count != 1 || all.Rows[0].IsRead {
		t.Fatal(all, err)
	}
}

// One event marks all that a user was told until then as read, and no other
// user's. What comes later is unread; what was read keeps its time.
func TestAUserReadsAllAtOnce(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	tell := func(user int64) uuid.UUID {
		id := uuid.New()
		p.do(t, notice.Raise{ID: id, InApp: true, User: user, Text: notice.Text{Type: notice.Info, Title: "News", URL: "/"}, At: noon})
		return id
	}
	s, other := p.For(Caller{User: 1}), p.For(Caller{User: 2})
	early, kept, _ := tell(1), tell(1), tell(2)
	p.do(t, notice.MarkRead{ID: early, At: noon})
	first, err := s.Notices().Notification(t.Context(), early)
	if err != nil {
		t.Fatal(err)
	}
	count := func(s Scope, want int64) Unread {
		t.Helper()
		found, err := s.Notices().Unread(t.Context())
		if err != nil || found.Count != want {
			t.Fatalf("%+v %v, want %d", found, err, want)
		}
		return found
	}
	p.do(t, notice.MarkAllRead{User: 1, Through: count(s, 1).Through})
	count(s, 0)
	count(other, 1)
	n, err := s.Notices().Notification(t.Context(), kept)
	if err != nil || !n.IsRead || n.ReadAt == nil || !n.WithAll || n.Inbox != 1 {
		t.Fatal(n, err)
	}
	if again, err := s.Notices().Notification(t.Context(), early); err != nil || !again.ReadAt.Equal(*first.ReadAt) {
		t.Error(again, err)
	}
	p.do(t, notice.Unread{ID: kept, WithAll: true})
	late := tell(1)
	p.do(t, notice.MarkAllRead{User: 1, Through: first.CreatedAt})
	count(s, 2)
	for read, want := range map[bool][]uuid.UUID{false: {late, kept}, true: {early}} {
		found, err := s.Notices().Notifications(t.Context(), Listing{Filters: []Filter{{Field: "is_read", Op: "=", Value: read}}})
		if err != nil || int(found.Count) != len(want) || found.Rows[0].ID != want[0] || found.Rows[0].IsRead != read {
			t.Errorf("%v: %+v %v", read, found, err)
		}
	}
}

func TestPreferencesAreTheDefaultsUntilTheyAreSet(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	s := p.For(Caller{User: 1})
	if prefs, version, err := s.Notices().Preferences(t.Context(), 1); err != nil || version != 0 || prefs != notice.DefaultPreferences() {
		t.Fatal(prefs, version, err)
	}
	want := notice.DefaultPreferences()
	for _, off := range []*bool{&want.OnInvoice, &want.InApp} {
		*off = false
		p.do(t, notice.SetPreferences{User: 1, Values: want.Fields().Values()})
	}
	if prefs, version, err := s.Notices().Preferences(t.Context(), 1); err != nil || version != 2 || prefs != want {
		t.Fatal(prefs, version, err)
	}
	if prefs, _, err := p.For(Caller{User: 2}).Notices().Preferences(t.Context(), 1); err != nil || prefs != notice.DefaultPreferences() {
		t.Fatal("another user's preferences were read", prefs, err)
	}
}
