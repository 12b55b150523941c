package webhook_test

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/domaintest"
	"hostpanel/domain/webhook"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	id   = uuid.MustParse("70717276-0000-4000-8000-000000000001")

	create  = webhook.Create{ID: 4, Tenant: 9, URL: "https://hooks.example.com/in?token=s3", Events: []string{"site.*"}, IsActive: true}
	created = webhook.EndpointCreated{SubjectID: webhook.Subject(4), Tenant: 9, URL: create.URL, Events: create.Events, IsActive: true}
	removed = webhook.EndpointRemoved{}
	gone    = webhook.EndpointDisabled{Reason: webhook.Gone}

	message = webhook.Message{
		ID: "018f", Type: "site.created", At: noon, Tenant: 9,
		Data: json.RawMessage(`{"kind":"site","id":42,"tenant":9,"url":"/hosting/api/rest/sites/42/"}`),
	}
	request   = webhook.Request{ID: id, Endpoint: 4, Tenant: 9, Message: message}
	requested = webhook.DeliveryRequested{Endpoint: 4, Tenant: 9, Message: message}
	attempt   = webhook.Attempted{
		ID: id, Status: 503, Code: "http_503", Took: 1200 * time.Millisecond, At: noon,
		NextAt: noon.Add(5 * time.Second),
	}
	attempted = webhook.DeliveryAttempted{Status: 503, Code: "http_503", Took: 1200, At: noon, NextAt: noon.Add(5 * time.Second)}
	delivered = webhook.Delivered{Status: 204, At: noon}
	failed    = webhook.DeliveryFailed{Code: "gave_up", At: noon}
	again     = webhook.RedeliveryRequested{Round: 2, By: 12}
)

func given(
	t *testing.T, history ...webhook.EndpointEvent,
) *domaintest.Story[webhook.Endpoint, webhook.EndpointCommand, webhook.EndpointEvent] {
	return domaintest.Given(t, webhook.Endpoints, history)
}

func sent(
	t *testing.T, history ...webhook.DeliveryEvent,
) *domaintest.Story[webhook.Delivery, webhook.DeliveryCommand, webhook.DeliveryEvent] {
	return domaintest.Given(t, webhook.Deliveries, history)
}

func changed(c webhook.EndpointChanged) webhook.EndpointChanged {
	c.SubjectID = webhook.Subject(4)
	return c
}

func TestAnEndpointIsMadeOnce(t *testing.T) {
	given(t).When(create).Then(created)
	given(t, created).When(create).ThenRefused(domain.Conflict, "The endpoint exists.")
	given(t, created, removed).When(create).ThenRefused(domain.Conflict, "The endpoint exists.")
}

func TestOnlyWhatDiffersIsAChange(t *testing.T) {
	url, off := "https://hooks.example.com/other", false
	given(t, created).When(webhook.Change{ID: 4, URL: &url, Events: create.Events, IsActive: &off}).
		Then(changed(webhook.EndpointChanged{URL: url, IsActive: &off}))
	given(t, created).When(webhook.Change{ID: 4, Events: []string{"*"}}).Then(changed(webhook.EndpointChanged{Events: []string{"*"}}))
	given(t, created).When(webhook.Change{ID: 4, URL: &create.URL, Events: create.Events, IsActive: &create.IsActive}).Then()
	given(t, created).When(webhook.Change{ID: 4}).Then()
}

func TestWhatWeHaveSwitchedOffIsSwitchedOnByItsOwner(t *testing.T) {
	on := true
	given(t, created).When(webhook.Disable{ID: 4, Reason: webhook.Gone}).Then(gone)
	given(t, created, gone).When(webhook.Disable{ID: 4, Reason: webhook.Gone}).Then()
	given(t, created, removed).When(webhook.Disable{ID: 4, Reason: webhook.Gone}).Then()
	given(t, created, gone).When(webhook.Change{ID: 4, IsActive: &on}).Then(changed(webhook.EndpointChanged{IsActive: &on}))
	if e := webhook.Endpoints.Replay(created, gone); e.Disabled != webhook.Gone || e.Wants("site.created") {
		t.Errorf("%+v", e)
	}
	if e := webhook.Endpoints.Replay(created, gone, changed(webhook.EndpointChanged{IsActive: &on})); e.Disabled != "" ||
		!e.Wants("site.created") {
		t.Errorf("%+v", e)
	}
}

func TestSecretsAreCounted(t *testing.T) {
	second := webhook.SecretRotated{Secret: 2}
	given(t, created).When(webhook.Rotate{ID: 4}).Then(second)
	given(t, created, second).When(webhook.Rotate{ID: 4}).Then(webhook.SecretRotated{Secret: 3})
}

func TestWhatIsRemovedIsNotThere(t *testing.T) {
	given(t, created).When(webhook.Remove{ID: 4}).Then(removed)
	given(t, created, removed).When(webhook.Remove{ID: 4}).Then()
	for _, c := range []webhook.EndpointCommand{webhook.Change{ID: 4}, webhook.Rotate{ID: 4}} {
		given(t, created, removed).When(c).ThenRefused(domain.NotFound, "No WebhookEndpoint matches the given query.")
		given(t).When(c).ThenRefused(domain.NotFound, "No WebhookEndpoint matches the given query.")
	}
	if e := webhook.Endpoints.Replay(created, removed); e.Exists() || e.TenantID() != 9 || e.Wants("site.created") {
		t.Errorf("%+v", e)
	}
}

// What an endpoint is reached by may be a secret of the tenant's, so nothing
// that shows a state shows it.
func TestTheStateOfAnEndpointDoesNotShowItsAddress(t *testing.T) {
	state, err := json.Marshal(webhook.Endpoints.Replay(created))
	if err != nil || strings.Contains(string(state), "token") {
		t.Errorf("%s, %v", state, err)
	}
}

func TestAnEndpointHearsWhatItWants(t *testing.T) {
	for _, c := range []struct {
		names string
		event string
		wants bool
	}{
		{"*", "invoice.created", true},
		{"site.*", "site.failed", true},
		{"site.*", "database.failed", false},
		{"site.created", "site.created", true},
		{"site.created", "site.updated", false},
		{"database.deleted mail_alias.*", "mail_alias.active", true},
		{"*", webhook.TestEvent, false},
	} {
		e := webhook.Endpoint{Tenant: 9, Events: strings.Fields(c.names), IsActive: true}
		if e.Wants(c.event) != c.wants {
			t.Errorf("%s of %s: %v", c.event, c.names, !c.wants)
		}
	}
}

func TestEveryTypeHasANameOfItsOwnAndAGroup(t *testing.T) {
	kinds := []string{"site", "dns_record"}
	names := webhook.Names(kinds)
	for i, name := range names {
		if slices.Contains(names[i+1:], name) {
			t.Errorf("%s is there twice", name)
		}
	}
	for _, typ := range webhook.Types(kinds) {
		group, verb, _ := strings.Cut(typ.Name, ".")
		if !webhook.IsType(typ.Name) || verb == "" || !strings.HasSuffix(typ.Says, ".") {
			t.Errorf("%+v", typ)
		}
		if typ.Name != webhook.TestEvent && !slices.Contains(names, group+".*") {
			t.Errorf("there is no %s.*", group)
		}
	}
	if webhook.IsType("site.*") || webhook.IsType("site.exploded") {
		t.Error("what is no type is taken for one")
	}
}

func TestAMessageReadsTheSameEachTime(t *testing.T) {
	const want = `{"type":"site.created","timestamp":"2026-11-21T12:00:00Z","data":{"kind":"site","id":42,"tenant":9,` +
		`"url":"/hosting/api/rest/sites/42/"}}`
	if got := string(message.Body()); got != want {
		t.Errorf("got %s", got)
	}
	kept, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	var read webhook.Message
	if err := json.Unmarshal(kept, &read); err != nil || string(read.Body()) != want {
		t.Errorf("read again: %s, %v", read.Body(), err)
	}
}

func TestAMessageIsRequestedOnce(t *testing.T) {
	sent(t).When(request).Then(requested)
	sent(t, requested).When(request).Then()
	sent(t, requested, failed).When(request).Then()
	strange := request
	strange.Message.Type = "site.exploded"
	if _, err := webhook.Deliveries.Decide(webhook.Delivery{}, strange); err == nil {
		t.Error("there is no such type")
	}
}

func TestADeliveryIsTriedUntilItArrivesOrIsGivenUp(t *testing.T) {
	confirm := webhook.Confirm{ID: id, Status: 204, At: noon}
	sent(t, requested).When(attempt).Then(attempted)
	sent(t, requested, attempted).When(confirm).Then(delivered)
	sent(t, requested, attempted).When(webhook.Fail{ID: id, Code: "gave_up", At: noon}).Then(failed)
	// late news
	sent(t, requested, delivered).When(attempt).Then()
	sent(t, requested, delivered).When(webhook.Fail{ID: id, Code: "gave_up", At: noon}).Then()
	sent(t, requested, delivered).When(confirm).Then()
	sent(t, requested, failed).When(attempt).Then()
	sent(t, requested, failed).When(confirm).Then(delivered)
	if d := webhook.Deliveries.Replay(
		requested, attempted, attempted, delivered,
	); d.Attempts != 3 || d.Status != webhook.Succeeded || d.TenantID() != 9 {
		t.Errorf("%+v", d)
	}
	for _, c := range []webhook.DeliveryCommand{attempt, confirm, webhook.Fail{ID: id}, webhook.Redeliver{ID: id}} {
		sent(t).When(c).ThenRefused(domain.NotFound, "No WebhookDelivery matches the given query.")
	}
}

func TestWhatIsOverIsDeliveredAgainOnRequest(t *testing.T) {
	redeliver := webhook.Redeliver{ID: id, By: 12}
	sent(t, requested).When(redeliver).ThenRefused(domain.Conflict, "The delivery is still being attempted.")
	sent(t, requested, failed).When(redeliver).Then(again)
	sent(t, requested, delivered).When(redeliver).Then(again)
	sent(t, requested, failed, again).When(redeliver).ThenRefused(domain.Conflict, "The delivery is still being attempted.")
	sent(t, requested, failed, again, delivered).When(redeliver).Then(webhook.RedeliveryRequested{Round: 3, By: 12})
}

func TestWhatNothingIsDeliveredToIsRefused(t *testing.T) {
	inside := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8")}
	for _, c := range []struct{ url, message, inside string }{
		{"https://hooks.example.com/in?token=s3", "", ""},
		{"https://hooks.example.com:443/", "", ""},
		{"https://93.184.215.14/in", "", ""},
		{"https://[2606:2800:21f:cb07::1]/in", "", ""},
		{"https://user@example.com/", "The URL must not have a user or a password.", "The URL must not have a user or a password."},
		{"https://u:p@example.com/", "The URL must not have a user or a password.", "The URL must not have a user or a password."},
		{"https://example.com/#part", "The URL must not have a fragment.", "The URL must not have a fragment."},
		{"https://example.com/#", "The URL must not have a fragment.", "The URL must not have a fragment."},
		{"ftp://example.com/", "The URL must begin with https://.", "The URL must begin with https://."},
		{"http://example.com/", "The URL must begin with https://.", ""},
		{"//example.com/", "The URL must begin with https://.", "The URL must begin with https://."},
		{"https:example.com", "Enter a valid URL.", "Enter a valid URL."},
		{"https://", "Enter a valid URL.", "Enter a valid URL."},
		{"https://example.com:/", "Enter a valid URL.", "Enter a valid URL."},
		{"https://exa mple.com/", "Enter a valid URL.", "Enter a valid URL."},
		{"https://example.com\\@127.0.0.1/", "Enter a valid URL.", "Enter a valid URL."},
		{"https://exämple.com/", "Enter a valid URL.", "Enter a valid URL."},
		{"https://example.com:8443/", "The URL must lead to port 443.", ""},
		{"https://localhost/", "The URL must lead to a public address.", ""},
		{"https://receiver/", "The URL must lead to a public address.", ""},
		{"https://db.internal/", "The URL must lead to a public address.", ""},
		{"https://printer.local./", "The URL must lead to a public address.", ""},
		{"https://10.1.2.3/", "The URL must lead to a public address.", ""},
		{"https://127.0.0.1/", "The URL must lead to a public address.", ""},
		{"https://192.168.1.1/", "The URL must lead to a public address.", "The URL must lead to a public address."},
		{"https://169.254.169.254/latest/", "The URL must lead to a public address.", "The URL must lead to a public address."},
		{"https://[::1]/", "The URL must lead to a public address.", "The URL must lead to a public address."},
		{"https://[fe80::1%25eth0]/", "The URL must lead to a public address.", "The URL must lead to a public address."},
		{"https://2130706433/", "The URL must lead to a public address.", "The URL must lead to a public address."},
		{"https://127.1/", "The URL must lead to a public address.", "The URL must lead to a public address."},
		{"https://0x7f000001/", "The URL must lead to a public address.", "The URL must lead to a public address."},
		{"https://0x7f.0.0.0x1/", "The URL must lead to a public address.", "The URL must lead to a public address."},
		{"https://a..example.com/", "The URL must lead to a public address.", "The URL must lead to a public address."},
	} {
		for networks, want := range map[*[]netip.Prefix]string{{}: c.message, &inside: c.inside} {
			got := ""
			if err := webhook.CheckURL(c.url, *networks); err != nil {
				got = strings.TrimPrefix(err.Error(), "url: ")
			}
			if got != want {
				t.Errorf("%s with %v: %q, want %q", c.url, *networks, got, want)
			}
		}
	}
}

func TestAddressesThatAreNotPublicAreNotReached(t *testing.T) {
	for _, hidden := range strings.Fields(`0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.9.9.9
		169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255
		198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
		:: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:0:7f00:1 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b:1::1
		100::1 2001::1 2001:db8::1 2002:7f00:1::1 2002:5db8:d70e::1 3fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1
		fec0::1 ff02::1`) {
		if webhook.Reachable(netip.MustParseAddr(hidden), nil) {
			t.Errorf("%s is reached", hidden)
		}
	}
	for _, public := range strings.Fields(`1.1.1.1 93.184.215.14 100.63.255.255 100.128.0.0 172.15.0.1 172.32.0.1 192.167.255.255
		198.17.0.1 198.20.0.1 223.255.255.255
		2606:4700:4700::1111 2a00:1450:4001::1 2001:4860:4860::8888 64:ff9b::101:101 ::ffff:1.1.1.1`) {
		if !webhook.Reachable(netip.MustParseAddr(public), nil) {
			t.Errorf("%s is not reached", public)
		}
	}
	networks := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("::1/128")}
	for address, want := range map[string]bool{
		"10.1.2.3": true, "10.2.2.3": false, "::1": true, "::ffff:10.1.2.3": true, "64:ff9b::a01:203": true,
		"127.0.0.1": false,
	} {
		if webhook.Reachable(netip.MustParseAddr(address), networks) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
	if webhook.Reachable(netip.Addr{}, networks) || webhook.Reachable(netip.MustParseAddr("2606::1%eth0"), nil) {
		t.Error("what is no address is reached")
	}
}

func TestEventsAreReadForever(t *testing.T) {
	off := false
	domaintest.Golden(t, webhook.EventTypes,
		created, changed(webhook.EndpointChanged{URL: "https://hooks.example.com/other", Events: []string{"*"}, IsActive: &off}),
		webhook.SecretRotated{Secret: 2}, removed, gone, requested, attempted, delivered, failed, again)
}
