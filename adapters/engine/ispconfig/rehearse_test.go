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
	for _, want := range []string{
		"client_update of tenant t17: ", "limit_web_domain 5 → 10", "limit_web_quota -1 → 5000",
		"sites_web_domain_update of site ", "hd_quota -1 → 5000", "sites_database_update of database ",
	} {
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

// A rehearsal of a creation names the calls that make a client and its site. Nothing is
// made, and no password is told.
func TestARehearsalNamesTheCallsOfACreation(t *testing.T) {
	w := inhabited(t)
	client := with(tenant("t99"), "max_storage_mb", 5000)
	site := w.object("site")
	site.ID, site.Owner, site.Name = 0, 0, "new.example"
	calls, err := w.engine.Rehearse(t.Context(), client, site)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, c := range calls {
		for _, change := range c.Changes {
			told = append(told, c.Call+" of "+c.Record+": "+change.Field+" "+change.To)
		}
	}
	all := strings.Join(told, "\n")
	for _, want := range []string{
		"client_add of tenant t99: username t99", "client_add of tenant t99: limit_web_quota 5000",
		"sites_web_domain_add of site new.example: hd_quota 5000",
	} {
		if strings.Count(all, want) != 1 {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
	if strings.Contains(all, "password") {
		t.Errorf("it tells a password:\n%s", all)
	}
	if _, is, err := w.engine.Find(t.Context(), "site", "new.example", ""); is || err != nil {
		t.Errorf("the site is there (%v)", err)
	}
	if _, is, err := w.engine.Find(t.Context(), "tenant", "t99", "t99"); is || err != nil {
		t.Errorf("the client is there (%v)", err)
	}
}
