package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/sagas"
)

// A reader of the log that another session keeps from its row goes on with nothing.
// /readyz names it, and an incident is reported, which ends by itself with the cause.
func TestAReaderThatStandsIsNamedUntilItGoesOn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.start()
	d := h.demo()
	as := []string{"Authorization", "Bearer " + r.signIn(d.Superuser).field(t, "access")}
	url := strings.TrimPrefix(h.at[0], "DATABASE_URL=")
	business := teller(t, url, programtest.SecretKey).Store.Clock()
	reported := func(settled bool) func() bool {
		return func() bool {
			must(t, business.Advance(t.Context(), time.Second)) // which wakes the janitor
			return r.incidentOf("reader_stuck", as) == fmt.Sprint("settled ", settled)
		}
	}
	r.ask(200, "GET", "/readyz", "")

	db, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = db.Close(t.Context()) }()
	cause, err := db.Begin(t.Context())
	must(t, err)
	_, err = cause.Exec(t.Context(), `select from readers where name = $1 for update`, sagas.ReactionsReader)
	must(t, err)
	body := fmt.Sprintf(ordered, d.Plans.Hosting, "ana@customer.example", "ana.example")
	r.ask(201, "POST", "/storefront/api/orders/", body, "X-API-Key", d.APIKey, "Content-Type", asJSON, "Idempotency-Key", "unread")

	var said answer
	readyz := func(status int) func() bool {
		return func() bool {
			said, err = call(t.Context(), "GET", r.base+"/readyz", "")
			return err == nil && said.status == status
		}
	}
	eventually(t, "/readyz fails", 2*patience, readyz(503))
	if !strings.Contains(said.body, "have not moved for a minute: "+sagas.ReactionsReader+" at position ") {
		t.Errorf("it does not name the reader: %s", said.body)
	}
	eventually(t, "the incident is reported", 2*patience, reported(false))
	must(t, cause.Rollback(t.Context()))
	eventually(t, "/readyz is well again", patience, readyz(200))
	eventually(t, "the incident is settled", 2*patience, reported(true))
	r.stop()
}

// incidentOf tells whether the only incident of a kind is settled; "": there is none.
func (r *running) incidentOf(kind string, as []string) string {
	var page struct {
		Results []struct {
			IsSettled bool `json:"is_settled"`
		}
	}
	a := r.ask(200, "GET", "/operations/api/v1/incidents/?kind="+kind, "", as...)
	if json.Unmarshal([]byte(a.body), &page) != nil || len(page.Results) != 1 {
		return ""
	}
	return fmt.Sprint("settled ", page.Results[0].IsSettled)
}
