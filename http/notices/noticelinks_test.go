package notices_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/eventstore"
	"hostpanel/paneltest"
)

// happens lets the reactions to an event of a stream run.
func happens(t testing.TB, s *paneltest.Shop, tenant int64, stream domain.Stream, e domain.Event) {
	t.Helper()
	r := eventstore.RecordedEvent{
		Stream: stream, Version: 1, ID: uuid.New(), Tenant: tenant, RecordedAt: time.Now(),
		Name: e.EventName(), Event: e,
	}
	if err := s.Runner.Reactions.React(t.Context(), r); err != nil {
		t.Fatalf("%s: %v", e.EventName(), err)
	}
}

// mailed are the mails of notifications that a user was to get, in their order.
func mailed(t testing.TB, s *paneltest.Shop, user int64) (all []notice.MailRequested) {
	t.Helper()
	events, err := s.Reader().After(t.Context(), 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range events {
		if e, is := r.Event.(notice.MailRequested); is && e.User == user {
			all = append(all, e)
		}
	}
	return all
}

// A reader who acts for another tenant at present is led to choose the one that a mail is
// about, and comes to its page from there. No other reader learns that there is one.
func TestALinkOfAnotherOwnTenantLeadsToTheChoiceOfIt(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.OneOfEach(t, 2, 2)
	s.Do(t, paneltest.Endpoint(2, 2))
	const site = "/panel/sites/2/"
	b := s.Visiting(t, paneltest.Ana) // acts for tenant 1
	to := "/panel/tenants/?next=%2Fpanel%2Fsites%2F2%2F&search=Cheese"
	paneltest.Goes(t, b.Get(site), to)
	b.Get(to)
	paneltest.Goes(t, b.Send("2"), site)
	paneltest.Has(t, b.Get(site).Body.String(), "n2.example")
	for user, path := range map[int64]string{
		paneltest.Ben: site, paneltest.Eve: site, paneltest.Ana: "/panel/sites/999/",
		paneltest.Root: "/panel/sites/999/",
	} {
		if w := s.Visiting(t, user).Get(path); w.Code != http.StatusNotFound {
			t.Errorf("user %d at %s: %d %s", user, path, w.Code, w.Header().Get("Location"))
		}
	}
	for _, next := range []string{"https://evil.example/", "//evil.example/", "/\\evil.example/", "/logout/"} {
		b.Get("/panel/tenants/?next=" + url.QueryEscape(next))
		path, sent := b.Fill("1")
		sent.Set("next", next)
		paneltest.Goes(t, b.Do("POST", path, sent.Encode()), "/panel/")
		b.Get("/panel/tenants/")
		b.Send("2")
	}
}
