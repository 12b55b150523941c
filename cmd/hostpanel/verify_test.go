package main

import (
	"fmt"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/domain/operations"
	"hostpanel/domain/wording"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
)

func TestVerifyNamesTheFirstEventThatWasChanged(t *testing.T) {
	url := eventstoretest.URL(t)
	p := programtest.Open(t, url, t.TempDir(), true)
	if err := serve.SeedDemo(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`alter table events disable trigger all`,
		`update events set data = (replace(data::text, 'Web S', 'Web X'))::json where name = 'storefront.plan_offered' and data::text like '%Web S%'`,
	} {
		if _, err := eventstoretest.Owner(t, url).Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	var position int64
	if err := p.Pool.QueryRow(t.Context(), `select position from events where data::text like '%Web X%'`).Scan(&position); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOSTPANEL_SECRET_KEY", programtest.SecretKey)
	t.Setenv("DATABASE_URL", url)
	code, out, complaint := told(t, "verify", "--data-dir", t.TempDir())
	if want := "broken at position " + wording.Grouped(position); code != console.Failed || !strings.HasPrefix(out, want) || !strings.Contains(out, "stream plan-") || complaint != "" {
		t.Errorf("verify ends with %d: %s%s", code, out, complaint)
	}
	if again, _, _ := told(t, "verify", "--data-dir", t.TempDir()); again != console.Failed {
		t.Errorf("verify ends with %d the second time", again)
	}
	open, err := p.Tables.For(projections.System).Incidents(t.Context(), projections.Listing{})
	if err != nil || open.Count != 1 || open.Rows[0].Kind != operations.LogBroken || open.Rows[0].About["position"] != fmt.Sprint(position) {
		t.Errorf("operators hear of %+v, %v", open, err)
	}
}
