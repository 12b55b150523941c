package projections

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	desk "hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
)

var rewrite = flag.Bool("update", false, "write statements.txt anew")

// The statements that the examples of all events make are kept in statements.txt. The
// fingerprint of a projection covers its lines, so a changed one builds its tables anew.
func TestTheStatementsOfAllExamplesAreWrittenDown(t *testing.T) {
	t.Parallel()
	lines := map[string]bool{}
	note := func(r eventstore.RecordedEvent) {
		for _, p := range All {
			for _, s := range p.Project(r) {
				lines[fmt.Sprintf("%s %s: %s", p.name, r.Name, strings.Join(strings.Fields(s.SQL), " "))] = true
			}
		}
	}
	for _, kind := range hosting.Kinds { // an example has the fields of one kind
		e := hosting.Changed{Spec: kind.New().Fields().Values()}
		note(eventstore.RecordedEvent{Stream: domain.Stream{Category: kind.Name, ID: "1"}, Version: 2, Name: e.EventName(), Event: e})
	}
	files, err := filepath.Glob("../domain/*/testdata/events/*.json")
	if err != nil || len(files) < 100 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		for _, example := range examples(t, file) {
			note(example)
		}
	}
	for _, p := range All {
		for event := range p.handlers {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(lines)), func(line string) bool { return strings.HasPrefix(line, p.name+" "+event+": ") }) {
				t.Errorf("no example of %s changes %s", event, p.name)
			}
		}
	}
	want := strings.Join(slices.Sorted(maps.Keys(lines)), "\n") + "\n"
	if *rewrite {
		if err := os.WriteFile("statements.txt", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != statements {
		t.Error("statements.txt is not current; go test ./projections -run 'TestTheStatements' -update writes it")
	}
}

// examples are the stored example of an event, as one of each category that may have it.
func examples(t *testing.T, file string) (all []eventstore.RecordedEvent) {
	t.Helper()
	catalogue := domain.NewCatalogue(order.EventTypes, account.EventTypes, hosting.EventTypes, billing.EventTypes, notice.EventTypes,
		webhook.EventTypes, storefront.EventTypes, desk.IncidentEventTypes, desk.ReviewEventTypes)
	parts := strings.Split(strings.TrimSuffix(filepath.Base(file), ".json"), ".")
	name, last := strings.Join(parts[:len(parts)-1], "."), parts[len(parts)-1]
	schema, err := strconv.Atoi(last)
	if err != nil {
		t.Fatal(file, err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	event, err := catalogue.Decode(name, schema, data)
	if err != nil {
		t.Fatal(file, err)
	}
	categories := []string{"any"}
	if strings.Contains(file, "hosting") {
		for _, kind := range hosting.Kinds {
			categories = append(categories, kind.Name)
		}
	}
	for _, category := range categories {
		all = append(all, eventstore.RecordedEvent{
			Stream: domain.Stream{Category: category, ID: uuid.Nil.String()}, Version: 1, Name: name, Event: event,
		})
	}
	return all
}
