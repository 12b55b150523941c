package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/domain/operations"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
)

// openIncidents are those that operators have yet to see to.
func openIncidents(t *testing.T, p *program.Program) map[string]int64 {
	t.Helper()
	open, err := p.Tables.For(projections.System).Operations().OpenIncidents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// A read table that cannot be built is an incident, whether a command fails at
// it or a start.
func TestOperatorsHearOfReadTablesThatCouldNotBeBuilt(t *testing.T) {
	p, url := demoForCommands(t)
	owner := eventstoretest.Owner(t, url)
	sql := func(sql string) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	sql(`alter table events disable trigger all`) // an unreadable event stops the rebuilds that need it
	sql(`update events set schema = 99 where name like 'storefront.%'`)
	if code, out, complaint := told(t, "projections", "rebuild", "plans", "--data-dir",
		t.TempDir()); code != console.Failed || !strings.Contains(complaint, "rebuild plans") {
		t.Errorf("it ends with %d: %s%s", code, out, complaint)
	}
	if open := openIncidents(t, p); open[operations.ProjectionFailed] != 1 {
		t.Errorf("operators hear of %v", open)
	}
	sql(`update projections set hash = 'old' where name = 'widgets'`) // as in a new version
	if code, _, complaint := told(t, "migrate", "--data-dir", t.TempDir()); code != console.Failed ||
		!strings.Contains(complaint, "rebuild widgets") {
		t.Errorf("it ends with %d: %s", code, complaint)
	}
	if open := openIncidents(t, p); open[operations.ProjectionFailed] != 2 {
		t.Errorf("operators hear of %v", open)
	}
	found := programtest.Figures(t, p)
	names := slices.Collect(maps.Keys(found))
	if found["hostpanel_incidents_open{projection_failed}"] == 0 ||
		!slices.Contains(names, "hostpanel_log_verified_position") || !slices.Contains(names, "hostpanel_log_broken_events") {
		t.Errorf("%v", found)
	}
}
