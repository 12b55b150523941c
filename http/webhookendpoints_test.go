package http_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/http/route/routetest"
)

const endpointsPath = "/hosting/api/rest/webhook-endpoints/"

func anEndpoint(id, tenant int64) webhook.Create {
	return webhook.Create{ID: id, Tenant: tenant, URL: "https://hooks.example.com/in", Events: []string{"*"}, IsActive: true}
}

func aDelivery(id uuid.UUID, endpoint, tenant int64, event string) webhook.Request {
	return webhook.Request{ID: id, Endpoint: endpoint, Tenant: tenant, Message: webhook.Message{
		ID: "e-" + id.String(), Type: event, At: time.Now(), Tenant: tenant, Data: []byte(`{}`),
	}}
}

// hooked gives tenants 1 and 3 an endpoint each. Deliveries are named by their
// status; "foreign" belongs to tenant 3.
func (s *shop) hooked(t testing.TB) *shop {
	t.Helper()
	s.do(t, anEndpoint(1, 1), anEndpoint(3, 3))
	for _, name := range []string{"pending", "delivered", "failed", "foreign"} {
		id, of := uuid.New(), int64(1)
		if name == "foreign" {
			of = 3
		}
		s.known[name] = id.String()
		commands := []domain.Command{aDelivery(id, of, of, "site.created")}
		switch name {
		case "delivered":
			commands = append(commands, webhook.Attempted{ID: id, Status: 500, Code: "status_500", At: time.Now()}, webhook.Confirm{ID: id, Status: 204, At: time.Now()})
		case "failed":
			commands = append(commands, webhook.Attempted{ID: id, Code: "timeout", At: time.Now()}, webhook.Fail{ID: id, Code: "gave_up", At: time.Now()})
		}
		s.do(t, commands...)
	}
	if _, err := s.owner.Exec(t.Context(), `select setval('webhook_endpoint_id', 100)`); err != nil {
		t.Fatal(err)
	}
	return s
}

// Conversations of administrators about their endpoints.
func TestConversationsAboutWebhookEndpoints(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "testdata/hooks/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := house(t).hooked(t)
		return s.handler, s.known
	})
}

func (s *shop) hook(t *testing.T, who, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return s.call("POST", endpointsPath, body, append(bearer(s.known[who]), headers...)...)
}

func TestATenantHasTenEndpointsHoweverManyAreAskedForAtOnce(t *testing.T) {
	t.Parallel()
	s := house(t)
	made, refused := 0, 0
	for _, w := range s.atOnce(16, func(i int) *httptest.ResponseRecorder {
		return s.hook(t, "ana", fmt.Sprintf(`{"url":"https://hooks.example.com/%d"}`, i))
	}) {
		switch {
		case w.Code == http.StatusCreated:
			made++
		case w.Code == http.StatusBadRequest && w.Header().Get("X-Error-Code") == "quota_exceeded":
			refused++
			has(t, w.Body.String(), `{"non_field_errors":["Limit reached: webhook_endpoints (10 of 10)."]}`)
		default:
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if made != webhook.MaxEndpoints || refused != 6 {
		t.Errorf("%d made, %d refused", made, refused)
	}
	if w := s.hook(t, "eve", `{"url":"https://hooks.example.com/"}`); w.Code != http.StatusCreated {
		t.Errorf("another tenant: %d %s", w.Code, w.Body)
	}
}

// A secret is shown in one answer, and is not stored with it.
func TestASecretIsShownOnceAndNotInARepeat(t *testing.T) {
	t.Parallel()
	s := house(t)
	secretIn := func(w *httptest.ResponseRecorder, status int) string {
		t.Helper()
		var answer struct {
			ID     int64
			Secret *string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != status || answer.ID == 0 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if answer.Secret == nil {
			return ""
		}
		return *answer.Secret
	}
	key := []string{"Idempotency-Key", "create-1"}
	first := s.hook(t, "ana", `{"url":"https://hooks.example.com/"}`, key...)
	shown := secretIn(first, http.StatusCreated)
	if !strings.HasPrefix(shown, "whsec_") || first.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%s %v", first.Body, first.Header())
	}
	path := strings.TrimPrefix(first.Header().Get("Location"), public)
	if again := s.hook(t, "ana", `{"url":"https://hooks.example.com/"}`, key...); secretIn(again, http.StatusCreated) != "" || again.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s %v", again.Body, again.Header())
	}
	rotate := func(headers ...string) *httptest.ResponseRecorder {
		return s.call("POST", path+"rotate_secret/", "", append(bearer(s.known["ana"]), headers...)...)
	}
	second := secretIn(rotate("Idempotency-Key", "rotate-1"), http.StatusOK)
	if !strings.HasPrefix(second, "whsec_") || second == shown {
		t.Error(second)
	}
	if secretIn(rotate("Idempotency-Key", "rotate-1"), http.StatusOK) != "" {
		t.Error("a repeat shows the secret")
	}
	if n := s.events(t, "webhook.secret_rotated"); n != 1 {
		t.Errorf("it was rotated %d times", n)
	}
	for _, read := range []string{path, endpointsPath} {
		w := s.call("GET", read, "", bearer(s.known["ana"])...)
		has(t, w.Body.String(), `"secret":null`)
	}
	for _, secret := range []string{shown, second} {
		bare := strings.TrimPrefix(secret, "whsec_")
		if n := s.count(t, `select count(*) from events where data::text like '%' || $1 || '%'`, bare); n != 0 {
			t.Error("the log tells the secret")
		}
		if strings.Contains(s.logged.String(), bare) {
			t.Error("what is logged tells the secret")
		}
	}
}

// Simultaneous changes of an endpoint change only the fields that they name.
func TestTwoChangesOfAnEndpointDoNotUndoEachOther(t *testing.T) {
	t.Parallel()
	s := house(t)
	s.do(t, anEndpoint(1, 1))
	for _, w := range s.atOnce(2, func(i int) *httptest.ResponseRecorder {
		return s.call("PATCH", endpointsPath+"1/", []string{`{"is_active":false}`, `{"events":["site.*"]}`}[i], bearer(s.known["ana"])...)
	}) {
		if w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	has(t, s.call("GET", endpointsPath+"1/", "", bearer(s.known["ana"])...).Body.String(), `"events":["site.*"],"is_active":false`)
}

func TestInASuspendedTenantEndpointsAreOnlyRead(t *testing.T) {
	t.Parallel()
	s := house(t)
	s.do(t, anEndpoint(1, 1))
	s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: map[string]json.RawMessage{"status": []byte(`"suspended"`)}})
	for call, want := range map[string]string{
		"ana GET " + endpointsPath + "1/":                "200 ",
		"ana POST " + endpointsPath:                      "403 tenant_suspended",
		"ana PATCH " + endpointsPath + "1/":              "403 tenant_suspended",
		"ana DELETE " + endpointsPath + "1/":             "403 tenant_suspended",
		"ana POST " + endpointsPath + "1/test/":          "403 tenant_suspended",
		"ana POST " + endpointsPath + "1/rotate_secret/": "403 tenant_suspended",
		"root POST " + endpointsPath + "1/test/":         "202 ",
	} {
		parts := strings.Fields(call)
		w := s.call(parts[1], parts[2], "{}", bearer(s.known[parts[0]])...)
		if got := fmt.Sprint(w.Code, " ", w.Header().Get("X-Error-Code")); got != want {
			t.Errorf("%s: %s, not %s", call, got, want)
		}
	}
}

// Every kind of the API has its types of events.
func TestEveryKindThatTenantsManageMakesEvents(t *testing.T) {
	t.Parallel()
	for _, kind := range hosting.Kinds {
		managed := kind.Writers != hosting.Superuser && kind.Collection != ""
		if told := slices.Contains(webhook.Names(hosting.Announced()), kind.Name+".created"); told != managed {
			t.Errorf("tenants manage a %s: %t; there are events of it: %t", kind.Label, managed, told)
		}
	}
}

func TestEveryEventIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range webhook.Types(hosting.Announced()) {
		group, life, _ := strings.Cut(typ.Name, ".")
		whole := strings.Contains(string(text), "`"+typ.Name+"`")
		inTwo := strings.Contains(string(text), "*kind*`."+life+"`") && strings.Contains(string(text), "`"+group+"`")
		if !whole && !inTwo {
			t.Errorf("docs/webhooks.md does not speak of %s", typ.Name)
		}
	}
}
