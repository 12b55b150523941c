package audit_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/paneltest"
)

// packJob asks for a pack, and returns the id of the job.
func packJob(t *testing.T, s *paneltest.Shop, as, body string) string {
	t.Helper()
	return paneltest.Queued(t, s.Call("POST", "/audit/api/v1/packs/", body, paneltest.Bearer(s.Known[as])...))
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

// An operator asks for a pack on the page of an order, and finds it there.
func TestThePageOfAnOrderHasItsEvidencePacks(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	s.Seal(t)
	b := s.Browser(t).Enter(paneltest.OpMail)
	page := "/storefront/orders/" + s.Known["running"] + "/"
	paneltest.Has(t, b.Get(page).Body.String(), "Evidence pack")
	if w := b.Send("evidence"); w.Code != http.StatusSeeOther {
		t.Fatal(w.Code, w.Body)
	}
	text := b.Get(page).Body.String()
	b.IsForEverybody(t, "en", text)
	paneltest.Has(t, text, "Evidence packs", "A pack is kept for a day")
	id := ""
	if err := s.Owner.QueryRow(t.Context(), `select operation::text from evidence_packs`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	if job := s.Done(t, id, "root"); job.Status != "succeeded" {
		t.Fatalf("%+v", job)
	}
	link := fmt.Sprintf("/audit/api/v1/packs/%s/evidence.zip", id)
	paneltest.Has(t, b.Get(page).Body.String(), `<a href="`+link+`">Fetch the file</a>`, "ready", " kB</p>")
	if w := b.Get(link); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/zip" {
		t.Error(w.Code, w.Header())
	}
}
