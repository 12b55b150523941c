package catalogue_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/stateform"
	"hostpanel/sagas/catalogue"
)

// What the tests of folds fold: the events in the golden files, with every decider of the
// program.

// A sample is an event of a golden file, as it was written and with other personal texts.
type sample struct {
	name           string
	event, renamed domain.Event
}

const canary = "a text that no state may have"

// folds are those of all categories of the program, by category.
type folds map[string]eventstore.CategoryFold

func (s folds) Categories() []string { return slices.Sorted(maps.Keys(s)) }

// deciders has all deciders, and the events that each of them folds.
func deciders(t *testing.T) (folds, map[string][]sample) {
	t.Helper()
	all := catalogue.Events()
	store := eventstore.Open(nil, all, nil)
	catalogue.Serve(store)
	s := folds{}
	for _, f := range store.Folds() {
		s[f.Category] = f
	}
	var files []string
	for _, pattern := range []string{"../../domain/*/testdata/events/*.json", "../testdata/events/*.json"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		files = append(files, found...)
	}
	events := map[string][]sample{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, data); err != nil {
			t.Fatal(file, err)
		}
		named := strings.TrimSuffix(filepath.Base(file), ".json")
		at := strings.LastIndexByte(named, '.')
		schema, err := strconv.Atoi(named[at+1:])
		if err != nil {
			t.Fatal(file, err)
		}
		event, err := all.Decode(named[:at], schema, compact.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, category := range s.Categories() {
			if accepts(s, category, event) {
				events[category] = append(events[category], sample{named, event, renamed(t, all, event)})
			}
		}
	}
	for _, category := range s.Categories() {
		if len(events[category]) == 0 {
			t.Errorf("no golden event is of %s", category)
		}
	}
	return s, events
}

// accepts tells whether a decider folds events of this type.
func accepts(s folds, category string, e domain.Event) (does bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, is := p.(*runtime.TypeAssertionError); !is {
				panic(p)
			}
		}
	}()
	s[category].Evolve(nil, e)
	return true
}

// renamed is the event with other personal texts.
func renamed(t *testing.T, catalogue domain.Catalogue, e domain.Event) domain.Event {
	t.Helper()
	if len(catalogue.Personal(e.EventName())) == 0 {
		return e
	}
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	for path := range catalogue.Personal(e.EventName()) {
		text := canary
		if path == "personal" { // fields of a record, as one text
			text = `{"contact_email":"` + canary + `","name":"` + canary + `"}`
		}
		replace(tree, strings.Split(path, "/"), text)
	}
	if data, err = json.Marshal(tree); err != nil {
		t.Fatal(err)
	}
	other, err := catalogue.Decode(e.EventName(), catalogue.Schema(e.EventName()), data)
	if err != nil {
		t.Fatal(err)
	}
	return other
}

func replace(tree any, path []string, text string) {
	if list, is := tree.([]any); is {
		for i := range list {
			replace(list[i], path[1:], text)
		}
		return
	}
	object, _ := tree.(map[string]any)
	switch {
	case object == nil:
	case len(path) > 1:
		replace(object[path[0]], path[1:], text)
	default:
		object[path[0]] = text
	}
}

func encoded(t *testing.T, state any) string {
	t.Helper()
	data, err := stateform.Encode(state)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// chances calls each with random histories of every decider that has snapshots.
func chances(t *testing.T, each func(t *testing.T, s folds, category string, history []sample)) {
	t.Helper()
	s, events := deciders(t)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test
	for _, category := range s.Categories() {
		if s[category].Number == "" {
			continue
		}
		t.Run(category, func(t *testing.T) {
			t.Logf("seed %d", seed)
			for range 60 {
				history := make([]sample, 2+random.IntN(60))
				for i := range history {
					history[i] = events[category][random.IntN(len(events[category]))]
				}
				each(t, s, category, history)
			}
		})
	}
}
