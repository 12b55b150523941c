package hosting_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

const endpointsPath = "/hosting/api/rest/webhook-endpoints/"

// Conversations of administrators about their endpoints.
func TestConversationsAboutWebhookEndpoints(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "../testdata/hooks/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := paneltest.House(t).Hooked(t)
		return s.Handler, s.Known
	})
}

func hook(t *testing.T, s *paneltest.Shop, who, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return s.Call("POST", endpointsPath, body, append(paneltest.Bearer(s.Known[who]), headers...)...)
}

// A secret is shown in one answer, and is not stored with it.
func TestASecretIsShownOnceAndNotInARepeat(t *testing.T) {
	t.Parallel()
	s := paneltest.House(t)
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
	first := hook(t, s, "ana", `{"url":"https://hooks.example.com/"}`, key...)
	shown := secretIn(first, http.StatusCreated)
	if !strings.HasPrefix(shown, "whsec_") || first.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%s %v", first.Body, first.Header())
	}
	path := strings.TrimPrefix(first.Header().Get("Location"), paneltest.PublicURL)
	if again := hook(t, s, "ana", `{"url":"https://hooks.example.com/"}`,
		key...); secretIn(again, http.StatusCreated) != "" || again.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s %v", again.Body, again.Header())
	}
	rotate := func(headers ...string) *httptest.ResponseRecorder {
		return s.Call("POST", path+"rotate_secret/", "", append(paneltest.Bearer(s.Known["ana"]), headers...)...)
	}
	second := secretIn(rotate("Idempotency-Key", "rotate-1"), http.StatusOK)
	if !strings.HasPrefix(second, "whsec_") || second == shown {
		t.Error(second)
	}
	if secretIn(rotate("Idempotency-Key", "rotate-1"), http.StatusOK) != "" {
		t.Error("a repeat shows the secret")
	}
	if n := s.Events(t, "webhook.secret_rotated"); n != 1 {
		t.Errorf("it was rotated %d times", n)
	}
	for _, read := range []string{path, endpointsPath} {
		w := s.Call("GET", read, "", paneltest.Bearer(s.Known["ana"])...)
		paneltest.Has(t, w.Body.String(), `"secret":null`)
	}
	for _, secret := range []string{shown, second} {
		bare := strings.TrimPrefix(secret, "whsec_")
		if n := s.Count(t, `select count(*) from events where data::text like '%' || $1 || '%'`, bare); n != 0 {
			t.Error("the log tells the secret")
		}
		if strings.Contains(s.Logged.String(), bare) {
			t.Error("what is logged tells the secret")
		}
	}
}

// Simultaneous changes of an endpoint change only the fields that they name.
func TestTwoChangesOfAnEndpointDoNotUndoEachOther(t *testing.T) {
	t.Parallel()
	s := paneltest.House(t)
	s.Do(t, paneltest.Endpoint(1, 1))
	for _, w := range s.AtOnce(2, func(i int) *httptest.ResponseRecorder {
		return s.Call("PATCH", endpointsPath+"1/", []string{`{"is_active":false}`, `{"events":["site.*"]}`}[i],
			paneltest.Bearer(s.Known["ana"])...)
	}) {
		if w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	paneltest.Has(t, s.Call("GET", endpointsPath+"1/", "", paneltest.Bearer(s.Known["ana"])...).Body.String(),
		`"events":["site.*"],"is_active":false`)
}

func TestInASuspendedTenantEndpointsAreOnlyRead(t *testing.T) {
	t.Parallel()
	s := paneltest.House(t)
	s.Do(t, paneltest.Endpoint(1, 1))
	s.Do(t, hosting.Change{
		Ref:  hosting.Ref{Kind: "tenant", ID: 1},
		Spec: map[string]json.RawMessage{"status": []byte(`"suspended"`)},
	})
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
		w := s.Call(parts[1], parts[2], "{}", paneltest.Bearer(s.Known[parts[0]])...)
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
	text, err := os.ReadFile("../../docs/webhooks.md")
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
