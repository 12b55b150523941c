package ispconfig_test

import (
	"fmt"
	"strings"
	"testing"
)

// A rehearsal names the calls that the change then makes, with the values before and
// after, and changes nothing.
func TestARehearsalNamesTheCallsOfAChange(t *testing.T) {
	w := inhabited(t)
	client := with(with(tenant("t17"), "max_sites", 10), "max_storage_mb", 5000)
	client.ID = w.client
	before := fmt.Sprint(w.rowOf("tenant"), w.rowOf("site"), w.rowOf("database"))
	calls, err := w.engine.Rehearse(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	if after := fmt.Sprint(w.rowOf("tenant"), w.rowOf("site"), w.rowOf("database")); after != before {
		t.Fatalf("it has changed\n%s\nto\n%s", before, after)
	}
	var told []string
	for _, c := range calls {
		var changes []string
		for _, change := range c.Changes {
			changes = append(changes, change.Field+" "+change.From+" → "+change.To)
		}
		told = append(told, c.Call+" of "+c.Record+": "+strings.Join(changes, ", "))
	}
	for _, want := range []string{"client_update of tenant t17: ", "limit_web_domain 5 → 10", "limit_web_quota -1 → 5000", "sites_web_domain_update of site ", "hd_quota -1 → 5000", "sites_database_update of database "} {
		if all := strings.Join(told, "\n"); strings.Count(all, want) != 1 {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
	w.change(client)
	for row, want := range map[string]string{w.rowOf("tenant")["limit_web_domain"]: "10", w.rowOf("site")["hd_quota"]: "5000"} {
		if row != want {
			t.Errorf("%s instead of %s", row, want)
		}
	}
	if calls, err := w.engine.Rehearse(t.Context(), client); err != nil || len(calls) != 0 {
		t.Errorf("what is so already: %v, %v", calls, err)
	}
}
