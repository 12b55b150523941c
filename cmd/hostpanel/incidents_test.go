package main

import (
	"strings"
	"testing"

	"hostpanel/domain/operations"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
)

// openIncidents are those that operators have yet to see to.
func openIncidents(t *testing.T, p *program) map[string]int64 {
	t.Helper()
	open, err := p.tables.For(projections.System).OpenIncidents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// A read table that cannot be built is an incident, whether a command fails at
// it or a start.
func TestOperatorsHearOfReadTablesThatCouldNotBeBuilt(t *testing.T) {
	url := eventstoretest.URL(t)
	p := opened(t, url, t.TempDir(), true)
	if err := p.seedDemo(t.Context()); err != nil {
		t.Fatal(err)
	}
	owner := eventstoretest.Owner(t, url)
	sql := func(sql string) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	sql(`alter table events disable trigger all`) // an unreadable event stops every rebuild
	sql(`update events set schema = 99 where name = 'storefront.plan_offered'`)
	t.Setenv("HOSTPANEL_SECRET_KEY", "dGVzdC1rZXktdGVzdC1rZXktdGVzdC1rZXktMDEyMzQ=")
	if code, out, complaint := told(t, "projections", "rebuild", "plans", "--database-url", url, "--data-dir", t.TempDir()); code != failed || !strings.Contains(complaint, "rebuild plans") {
		t.Errorf("it ends with %d: %s%s", code, out, complaint)
	}
	if open := openIncidents(t, p); open[operations.ProjectionFailed] != 1 {
		t.Errorf("operators hear of %v", open)
	}
	sql(`update projections set hash = 'old' where name = 'widgets'`) // as in a new version
	if code, _, complaint := told(t, "migrate", "--database-url", url, "--data-dir", t.TempDir()); code != failed || !strings.Contains(complaint, "rebuild widgets") {
		t.Errorf("it ends with %d: %s", code, complaint)
	}
	if open := openIncidents(t, p); open[operations.ProjectionFailed] != 2 {
		t.Errorf("operators hear of %v", open)
	}
	found := figuresOf(t, p)
	if found["hostpanel_incidents_open{projection_failed}"] == 0 || !has(found, "hostpanel_log_verified_position") || !has(found, "hostpanel_log_broken_events") {
		t.Errorf("%v", found)
	}
}
