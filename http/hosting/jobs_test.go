package hosting_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hostpanel/adapters/faults"
	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

func TestConversationsAboutOperations(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "../testdata/jobs/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := paneltest.WithSites(t)
		return s.Handler, s.Known
	})
}

// A generated password is shown once, to the user who started the operation.
func TestAnInstallationShowsItsPasswordOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.WithSites(t).Start(t)
	id := paneltest.Queued(t, s.Call("POST", "/hosting/api/rest/sites/1/install_cms/",
		`{"cms":"wordpress","admin_user":"ben"}`, paneltest.Bearer(s.Known["ben"])...))
	path := "/hosting/api/rest/operations/" + id + "/"
	for _, other := range []string{"ana", "root"} {
		j := s.Done(t, id, other)
		if j.Status != "succeeded" || j.Result["admin_password"] != nil || j.Result["url"] != "https://bread.example/" ||
			j.Result["admin_user"] != "ben" {
			t.Fatalf("%s: %+v", other, j)
		}
	}
	if head := s.Call("HEAD", path, "", paneltest.Bearer(s.Known["ben"])...); head.Code != http.StatusOK {
		t.Error(head.Code)
	}
	first := s.Call("GET", path, "", paneltest.Bearer(s.Known["ben"])...)
	shown := paneltest.Answered[paneltest.ShownJob](t, first)
	if password, _ := shown.Result["admin_password"].(string); len(password) < 22 ||
		first.Header().Get("Cache-Control") != "no-store" || first.Header().Get("ETag") != "" {
		t.Errorf("%+v %v", shown, first.Header())
	}
	second := s.Call("GET", path, "", paneltest.Bearer(s.Known["ben"])...)
	if again := paneltest.Answered[paneltest.ShownJob](t, second); again.Result["admin_password"] != nil ||
		second.Header().Get("ETag") == "" {
		t.Errorf("%+v %v", again, second.Header())
	}
	if password, _ := shown.Result["admin_password"].(string); strings.Contains(s.Logged.String(), password) {
		t.Error("the log knows the password")
	}
	refused := s.Call("POST", "/hosting/api/rest/sites/1/install_cms/", `{"cms":"drupal"}`,
		paneltest.Bearer(s.Known["ben"])...)
	if got := fmt.Sprint(refused.Code, refused.Body); got != `409 {"detail":"The document root is not empty.","code":"docroot_not_empty"}` {
		t.Error(got)
	}
}

func TestWithoutItsEngineATenantIsNotCompared(t *testing.T) {
	t.Parallel()
	s := paneltest.WithSites(t)
	if _, err := faults.For(s.Pool(), "engine").Order(t.Context(),
		faults.Fault{Call: faults.Find, What: faults.Busy, Times: 10}); err != nil {
		t.Fatal(err)
	}
	w := s.Call("POST", "/hosting/api/rest/tenants/1/sync/", "", paneltest.Bearer(s.Known["ana"])...)
	if got := fmt.Sprint(w.Code, w.Body, w.Header().Get("Retry-After") != ""); got != `503 {"detail":"The hosting `+
		`engine is temporarily unavailable.","code":"engine_unavailable"} true` {
		t.Error(got)
	}
}
