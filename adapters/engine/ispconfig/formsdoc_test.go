package ispconfig

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The table of forms in the documentation is the adapter's own.
func TestFormsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/engine-ispconfig.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| kind | field | sent | stored and answered | served | refused with |\n|---|---|---|---|---|---|\n")
	for _, r := range resources {
		for _, f := range r.forms {
			fmt.Fprintf(&table, "| `%s` | `%s` | %s | %s | %s | %s |\n", r.kind, f.field, f.sent, f.stored, f.served, f.refused)
		}
	}
	if !strings.Contains(string(page), table.String()) {
		t.Errorf("docs/engine-ispconfig.md, \"Forms of values\", has to have this table:\n%s", table.String())
	}
}
