package audit_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/eventstore/evidence"
	"hostpanel/paneltest"
)

// packJob asks for a pack, and returns the id of the job.
func packJob(t *testing.T, s *paneltest.Shop, as, body string) string {
	t.Helper()
	return paneltest.Queued(t, s.Call("POST", "/audit/api/v1/packs/", body, paneltest.Bearer(s.Known[as])...))
}

// An administrator has a pack of the own tenant made, fetches it, and a stranger checks
// it. Others neither see the job nor the file.
func TestAnAdministratorFetchesAPackOfTheTenant(t *testing.T) {
	t.Parallel()
	s := twoTenantsSites(t)
	s.Do(t, account.ActivateTenant{User: paneltest.Ana, Tenant: 1, At: time.Now()})
	s.Do(t, account.ActivateTenant{User: paneltest.Ben, Tenant: 1, At: time.Now()})
	id := packJob(t, s, "ana", fmt.Sprintf(`{"from":"2020-01-01T00:00:00Z","to":%q}`,
		time.Now().UTC().Format(time.RFC3339Nano))) // without its own events
	file := "/audit/api/v1/packs/" + id + "/evidence.zip"
	if w := s.Call("GET", file, "", paneltest.Bearer(s.Known["ana"])...); w.Code != http.StatusNotFound {
		t.Error("before it is made:", w.Code, w.Body)
	}
	s.Seal(t)
	s.Start(t)
	done := s.Done(t, id, "ana")
	if done.Status != "succeeded" || done.Result["file"] != file || done.Result["events"].(float64) < 2 ||
		done.Result["expires_at"] == nil {
		t.Fatalf("%+v", done)
	}
	w := s.Call("GET", file, "", paneltest.Bearer(s.Known["ana"])...)
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil || w.Header().Get("Content-Type") != "application/zip" || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatal(err, w.Code, w.Header())
	}
	pack, err := evidence.Read(z)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := pack.Check(nil); err != nil || len(r.Faults) != 0 ||
		len(r.Events) != int(done.Result["events"].(float64)) {
		t.Error(r.Faults, err)
	}
	if bytes.Contains(pack.Story, []byte("s2.example")) || !bytes.Contains(pack.Story, []byte("site-1")) {
		t.Error("the story is not that of the tenant")
	}
	for who, want := range map[string]int{
		"root": http.StatusOK, "ben": http.StatusForbidden,
		"eve": http.StatusForbidden,
	} {
		if w := s.Call("GET", file, "", paneltest.Bearer(s.Known[who])...); w.Code != want {
			t.Errorf("%s: %d %s", who, w.Code, w.Body)
		}
	}
	ofAll := packJob(t, s, "root", `{"tenant":1}`)
	for _, path := range []string{
		"/hosting/api/rest/operations/" + ofAll + "/",
		"/audit/api/v1/packs/" + ofAll + "/evidence.zip",
	} {
		if w := s.Call("GET", path, "", paneltest.Bearer(s.Known["ana"])...); w.Code != http.StatusNotFound {
			t.Errorf("the pack of a superuser: %s %d", path, w.Code)
		}
	}
}

func TestAPackIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := twoTenantsSites(t)
	s.Do(t, account.ActivateTenant{User: paneltest.Ana, Tenant: 1, At: time.Now()})
	for _, c := range []struct {
		as, body string
		code     int
		says     string
	}{
		{"root", `{}`, http.StatusBadRequest, `{"non_field_errors":["Send order, tenant, from or to."]}`},
		{
			"root", `{"from":"2026-02-01T00:00:00Z","to":"2026-01-01T00:00:00Z"}`, http.StatusBadRequest,
			`{"to":["Ensure that this is not before from."]}`,
		},
		{"root", `{"order":"x"}`, http.StatusBadRequest, `{"order":["Must be a valid UUID."]}`},
		{"root", `{"order":"00000000-0000-4000-8000-000000000000"}`, http.StatusNotFound, `{"detail":"Not found."}`},
		{"ana", `{"tenant":2}`, http.StatusNotFound, `{"detail":"Not found."}`},
		{"ben", `{"tenant":1}`, http.StatusForbidden, ""},
	} {
		w := s.Call("POST", "/audit/api/v1/packs/", c.body, paneltest.Bearer(s.Known[c.as])...)
		if w.Code != c.code || c.says != "" && w.Body.String() != c.says {
			t.Errorf("%s %s: %d %s", c.as, c.body, w.Code, w.Body)
		}
	}
	once := append(paneltest.Bearer(s.Known["root"]), "Idempotency-Key", "pack-1")
	first := s.Call("POST", "/audit/api/v1/packs/", `{"tenant":1}`, once...)
	again := s.Call("POST", "/audit/api/v1/packs/", `{"tenant":1}`, once...)
	if first.Code != http.StatusAccepted || again.Body.String() != first.Body.String() ||
		again.Header().Get("Idempotent-Replayed") != "true" {
		t.Error(first.Code, first.Body, again.Code, again.Body)
	}
}
