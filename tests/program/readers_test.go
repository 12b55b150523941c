//go:build system

package program_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/sagas"
	"hostpanel/tests/processtest"
)

// A reader of the log that another session keeps from its row goes on with nothing.
// /readyz names it, and an incident is reported, which ends by itself with the cause.
func TestAReaderThatStandsIsNamedUntilItGoesOn(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r := h.Start()
	d := h.Demo()
	as := []string{"Authorization", "Bearer " + r.SignIn(d.Superuser).Field(t, "access")}
	url := strings.TrimPrefix(h.At[0], "DATABASE_URL=")
	business := processtest.Teller(t, url, programtest.SecretKey).Store.Clock()
	reported := func(settled bool) func() bool {
		return func() bool {
			must(t, business.Advance(t.Context(), time.Second)) // which wakes the janitor
			return incidentOf(r, "reader_stuck", as) == fmt.Sprint("settled ", settled)
		}
	}
	r.Ask(200, "GET", "/readyz", "")

	db, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = db.Close(t.Context()) }()
	cause, err := db.Begin(t.Context())
	must(t, err)
	_, err = cause.Exec(t.Context(), `select from readers where name = $1 for update`, sagas.ReactionsReader)
	must(t, err)
	body := fmt.Sprintf(processtest.Ordered, d.Plans.Hosting, "ana@customer.example", "ana.example")
	r.Ask(201, "POST", "/storefront/api/orders/", body, "X-API-Key", d.APIKey, "Content-Type", processtest.AsJSON,
		"Idempotency-Key", "unread")

	var said processtest.Answer
	readyz := func(status int) func() bool {
		return func() bool {
			said, err = processtest.Call(t.Context(), "GET", r.Base+"/readyz", "")
			return err == nil && said.Status == status
		}
	}
	processtest.Within(t, "/readyz fails", 2*processtest.Patience, readyz(503))
	if !strings.Contains(said.Body, "have not moved for a minute: "+sagas.ReactionsReader+" at position ") {
		t.Errorf("it does not name the reader: %s", said.Body)
	}
	processtest.Within(t, "the incident is reported", 2*processtest.Patience, reported(false))
	must(t, cause.Rollback(t.Context()))
	processtest.Eventually(t, "/readyz is well again", readyz(200))
	processtest.Within(t, "the incident is settled", 2*processtest.Patience, reported(true))
	r.Stop()
}

// incidentOf tells whether the only incident of a kind is settled; "": there is none.
func incidentOf(r *processtest.Process, kind string, as []string) string {
	var page struct {
		Results []struct {
			IsSettled bool `json:"is_settled"`
		}
	}
	a := r.Ask(200, "GET", "/operations/api/v1/incidents/?kind="+kind, "", as...)
	if json.Unmarshal([]byte(a.Body), &page) != nil || len(page.Results) != 1 {
		return ""
	}
	return fmt.Sprint("settled ", page.Results[0].IsSettled)
}
