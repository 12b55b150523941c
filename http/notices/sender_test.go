package notices_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

const senderPath = "/hosting/api/rest/whitelabel/1/sender/"

// A tenant publishes a record at its domain, and asks for it to be looked at.
func TestATenantProvesTheDomainThatItsMailsComeFrom(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t)
	look := hosting.WhiteLabel{
		BrandName: "Bread", EmailFromEmail: "hello@bread.example", SenderRecord: "hostpanel-verify=ABC", IsActive: true,
		PrimaryColor: "#111111", SecondaryColor: "#222222", SidebarBGColor: "#333333", SidebarColor: "#444444",
	}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Tenant: 1, Spec: look.Fields().Values()})
	name := &paneltest.TxtRecords{}
	s.Hosting.Resolver = name.Resolver(t)
	ask := func(method string, want int) map[string]any {
		t.Helper()
		w := s.Call(method, senderPath, "", append(paneltest.Bearer(s.Known["ana"]), "Content-Type", "application/json")...)
		var got map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &got); w.Code != want || err != nil {
			t.Fatalf("%s: %d %s, %v", method, w.Code, w.Body, err)
		}
		return got
	}
	if got := ask("GET", http.StatusOK); got["record"] != look.SenderRecord || got["domain"] != "bread.example" ||
		got["is_proven"] != false {
		t.Errorf("before: %v", got)
	}
	refused := func(want string) {
		t.Helper()
		got, _ := ask("POST", http.StatusBadRequest)["email_from_address"].([]any)
		if len(got) != 1 || got[0] != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	refused("Its domain is none of the tenant's active mail domains.")
	mail := hosting.MailDomain{Domain: "bread.example", DKIMSelector: "default", IsActive: true}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "mail_domain", ID: 1}, Tenant: 1, Spec: mail.Fields().Values()})
	const missing = "No TXT record hostpanel-verify=ABC was found at bread.example."
	refused(missing)
	name.Publish("bread.example.", "v=spf1 -all", "hostpanel-verify=XYZ")
	refused(missing)
	fail(name, true)
	if got := ask("POST", http.StatusServiceUnavailable); got["detail"] != "The name servers of bread.example did not "+
		"answer. Try again later." {
		t.Errorf("away: %v", got)
	}
	fail(name, false)
	name.Publish("bread.example.", "v=spf1 -all", "hostpanel-verify=ABC")
	for _, method := range []string{"POST", "GET", "POST"} {
		if got := ask(method, http.StatusOK); got["is_proven"] != true {
			t.Errorf("%s: %v", method, got)
		}
	}
	s.Call("PATCH", "/hosting/api/rest/whitelabel/1/", `{"email_from_address":"hello@milk.example"}`,
		append(paneltest.Bearer(s.Known["ana"]), "Content-Type", "application/json")...)
	if got := ask("GET", http.StatusOK); got["is_proven"] != false || got["domain"] != "milk.example" {
		t.Errorf("another domain: %v", got)
	}
}

func TestANewBrandHasARecordOfItsOwn(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t)
	w := s.Call("POST", "/hosting/api/rest/whitelabel/",
		`{"brand_name":"Bread","email_from_address":"hello@bread.example"}`,
		append(paneltest.Bearer(s.Known["ana"]), "Content-Type", "application/json")...)
	at := w.Header().Get("Location")
	at = at[strings.Index(at, "/hosting/"):]
	got := s.Call("GET", at+"sender/", "", paneltest.Bearer(s.Known["ana"])...)
	if _, token, _ := strings.Cut(got.Body.String(), `"record":"hostpanel-verify=`); len(token) < 26 {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := s.Call("POST", at+"sender/", "", paneltest.Bearer(s.Known["ben"])...); got.Code != http.StatusForbidden {
		t.Errorf("a member: %d %s", got.Code, got.Body)
	}
}

func fail(n *paneltest.TxtRecords, failed bool) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.Failed = failed
}
