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
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/compute"
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
	for _, r := range allExamples(t) {
		for _, p := range All {
			for _, s := range p.Project(r) {
				lines[fmt.Sprintf("%s %s: %s", p.name, r.Name, strings.Join(strings.Fields(s.SQL), " "))] = true
			}
		}
	}
	for _, p := range All {
		for event := range p.handlers {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(lines)), func(line string) bool {
				return strings.HasPrefix(line, p.name+" "+event+": ")
			}) {
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

// A rebuild can find each row by its key: if it had to read a whole table for each window, it
// would be quadratic. Only what is forgotten for good is looked for without an index.
func TestARebuildFindsRowsByTheirKeys(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	g := newGrouping()
	tables := []string{
		"set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off",
		"create schema anew; set local search_path = anew, public",
	}
	for _, one := range All {
		tables = append(tables, one.rules...) // other indexes come last
	}
	for _, r := range allExamples(t) {
		for _, one := range All {
			for _, c := range one.Changes(r) {
				g.add(one, c, &r)
			}
		}
	}
	planned := 0
	err := pgx.BeginFunc(t.Context(), p.owner, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), strings.Join(tables, ";")); err != nil {
			return err
		}
		for _, set := range g.sets {
			if strings.Contains(set.sql, "t.subject = ") || set.names[0] == (billing.FiscalKeysDestroyed{}).EventName() {
				continue
			}
			s := unnested(set.sql, set.types, set.rows)
			rows, _ := tx.Query(t.Context(), "explain "+s.SQL, s.Args...)
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return err
			}
			planned++
			if all := strings.Join(plan, "\n"); strings.Contains(all, "Seq Scan") || strings.Contains(all, "Hash") ||
				strings.Contains(all, "Merge") {
				t.Errorf("%s: %s\n%s", set.names[0], set.sql, all)
			}
		}
		return nil
	})
	if err != nil || planned < 100 {
		t.Error(planned, err)
	}
}

// allExamples are an example of each event, and one of a change of each kind of resource.
func allExamples(t *testing.T) (all []eventstore.RecordedEvent) {
	t.Helper()
	for _, kind := range hosting.Kinds { // an example has the fields of one kind
		e := hosting.Changed{Spec: kind.New().Fields().Values()}
		all = append(
			all,
			eventstore.RecordedEvent{Stream: domain.Stream{Category: kind.Name, ID: "1"}, Version: 2, Name: e.EventName(), Event: e},
		)
	}
	place := &compute.Placement{Addresses: make([]compute.Address, 1)} // the stored examples of these events concern none
	all = append(all, eventstore.RecordedEvent{
		Stream: domain.Stream{Category: machineKind.Name, ID: "1"}, Version: 1, Name: hosting.Requested{}.EventName(),
		Event: hosting.Requested{Kind: machineKind.Name, For: "order:" + uuid.Nil.String()},
	})
	for _, e := range []domain.Event{
		order.Placed{Placement: place},
		order.Reopened{Placement: place},
		order.RefundCompleted{Before: order.StatusPaymentProcessing},
		order.PlaceResized{Grows: true},
		order.DisputeClosed{Before: order.StatusPaymentProcessing, Chargeback: true},
	} {
		all = append(all, eventstore.RecordedEvent{
			Stream: domain.Stream{Category: order.Category, ID: uuid.Nil.String()}, Version: 1, Name: e.EventName(), Event: e,
		})
	}
	files, err := filepath.Glob("../domain/*/testdata/events/*.json")
	if err != nil || len(files) < 100 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		all = append(all, examples(t, file)...)
	}
	return all
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
