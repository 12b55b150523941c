package main

import (
	"fmt"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/operations"
	"hostpanel/domain/wording"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
)

func TestVerifyNamesTheFirstEventThatWasChanged(t *testing.T) {
	p, url := demoForCommands(t)
	for _, sql := range []string{
		`alter table events disable trigger all`,
		`update events set data = (replace(data::text, 'Web S', 'Web X'))::json where name = 'storefront.plan_offered' ` +
			`and data::text like '%Web S%'`,
	} {
		if _, err := eventstoretest.Owner(t, url).Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	var position int64
	if err := p.Pool.QueryRow(t.Context(),
		`select position from events where data::text like '%Web X%'`).Scan(&position); err != nil {
		t.Fatal(err)
	}
	code, out, complaint := told(t, "verify", "--data-dir", t.TempDir())
	if want := "broken at position " + wording.Grouped(position); code != console.Failed ||
		!strings.HasPrefix(out, want) || !strings.Contains(out, "stream plan-") || complaint != "" {
		t.Errorf("verify ends with %d: %s%s", code, out, complaint)
	}
	if code, out, _ := told(t, "verify", "--stream", "tenant-1", "--data-dir", t.TempDir()); code != console.Done ||
		!strings.Contains(out, "not covered: other streams") {
		t.Errorf("verify of another stream ends with %d: %s", code, out)
	}
	if again, _, _ := told(t, "verify", "--data-dir", t.TempDir()); again != console.Failed {
		t.Errorf("verify ends with %d the second time", again)
	}
	open, err := p.Tables.For(projections.System).Operations().Incidents(t.Context(), projections.Listing{})
	if err != nil || open.Count != 1 || open.Rows[0].Kind != operations.LogBroken ||
		open.Rows[0].About["position"] != fmt.Sprint(position) {
		t.Errorf("operators hear of %+v, %v", open, err)
	}
}

// A panel whose log has lost sealed events does not start. An operator lets it go on
// under a new origin; the old one stays.
func TestALogThatLostItsEndIsNotWrittenToUntilAnOperatorDecides(t *testing.T) {
	p, url := demoForCommands(t)
	if _, err := p.Sealer.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := eventstoretest.Owner(t, url).Exec(t.Context(),
		`alter table events disable trigger all; delete from events where position > 10`); err != nil {
		t.Fatal(err)
	}
	try := func(want string, code int, args ...string) {
		t.Helper()
		got, out, complaint := told(t, append(args, "--data-dir", t.TempDir())...)
		if got != code || !strings.Contains(out+complaint, want) {
			t.Errorf("%v ends with %d: %s%s", args, got, out, complaint)
		}
	}
	head := func() (n int64) {
		if err := p.Pool.QueryRow(t.Context(), `select max(position) from events`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	try("the log is shorter than its checkpoint: nothing is written", console.Failed, "worker", "--public-url",
		"http://127.0.0.1:1", "--listen", "127.0.0.1:0")
	if head() != 10 {
		t.Errorf("the log has %d events", head())
	}
	try("/audit/log", console.Done, "log", "checkpoint")
	try("/audit/log+", console.Done, "log", "checkpoint", "--key")
	try("/audit/log/2 with the key", console.Done, "log", "begin-anew", "--reason", "the disk was lost", "--yes")
	if err := p.Sealer.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if n, err := p.Sealer.Seal(t.Context()); err != nil || n != 10 {
		t.Errorf("%d events are sealed, %v", n, err)
	}
}
