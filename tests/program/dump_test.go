//go:build system

package program_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"hostpanel/eventstore/eventstoretest"
	"hostpanel/tests/processtest"
)

// F-19: a dump is restored into a new cluster, and the panel is started on it. Read
// tables and runs go on where they were, and nothing is made twice.
func TestAPanelGoesOnFromADump(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"pg_dump", "pg_restore", "psql"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: a dump cannot be made or restored", tool)
		}
	}
	before, after := eventstoretest.Private(t, nil).URL(), eventstoretest.Private(t, nil).URL()
	h := processtest.OwnHome(t)
	h.At = processtest.DatabaseAt(before)
	r := h.Start()
	d := h.Demo()
	buy := func(name string) (id, number string) {
		t.Helper()
		placed := r.Ask(201, "POST", "/storefront/api/orders/", fmt.Sprintf(processtest.Ordered, d.Plans.Hosting,
			name+"@customer.example", name+".example"),
			"X-API-Key", d.APIKey, "Content-Type", processtest.AsJSON)
		r.Ask(303, "POST", processtest.PathOf(t, placed.Field(t, "payment_url")), "action=pay", "Content-Type",
			processtest.AsForm)
		return placed.Field(t, "order_id"), placed.Field(t, "order_number")
	}
	done, first := buy("first")
	r.AwaitActive(done, d.APIKey, processtest.Patience)
	halfway, second := buy("second")
	r.Stop()

	// roles are in no dump
	tool(t, nil, "psql", "--quiet", "--dbname", after, "--command", "create role hostpanel_app nologin")
	dump := tool(t, nil, "pg_dump", "--format=custom", "--dbname", before)
	tool(t, dump, "pg_restore", "--exit-on-error", "--dbname", after)

	h.At = processtest.DatabaseAt(after)
	r = h.Start()
	r.AwaitActive(halfway, d.APIKey, processtest.Patience)
	last, third := buy("third")
	r.AwaitActive(last, d.APIKey, processtest.Patience)
	for _, number := range []string{first, second, third} {
		processtest.OnlyMail(t, h.Dir, number)
		if story := h.Must("history", number); strings.Count(story, "the welcome mail has been sent") != 1 {
			t.Errorf("%s:\n%s", number, story)
		}
	}
	for _, kind := range []string{"tenant", "site"} {
		made := tool(t, nil, "psql", "--no-align", "--tuples-only", "--dbname", after, "--command",
			"select count(*), count(distinct name) from sandbox_engine.objects where kind = '"+kind+"' and (name like "+
				"'%.example' or kind = 'tenant')")
		if n := strings.Split(strings.TrimSpace(string(made)), "|"); len(n) != 2 || n[0] != n[1] {
			t.Errorf("the engine has these and as many names of kind %s: %s", kind, made)
		}
	}
	if told := h.Must("verify"); !strings.Contains(told, "intact: ") {
		t.Error(told)
	}
	if tables := h.Must("projections", "list"); strings.Contains(tables, "failed") {
		t.Error(tables)
	}
	r.Stop()
}

// tool runs a program of PostgreSQL and returns what it writes.
func tool(t *testing.T, input []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...) //nolint:gosec // of the test
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &complaint
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", args[0], err, complaint.String())
	}
	return out.Bytes()
}
