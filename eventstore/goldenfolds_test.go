package eventstore_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/stateform"
	"hostpanel/sagas/assembly"
)

// What the tests of folds fold: the events in the golden files, with every decider of the
// program.

// A sample is an event of a golden file, as it was written and with other personal texts.
type sample struct {
	name           string
	event, renamed domain.Event
}

const canary = "a text that no state may have"

// deciders has all deciders, and the events that each of them folds.
func deciders(t *testing.T) (*eventstore.Store, map[string][]sample) {
	t.Helper()
	catalogue := assembly.Catalogue()
	s := eventstore.Open(nil, catalogue, nil)
	assembly.Serve(s)
	var files []string
	for _, pattern := range []string{"../domain/*/testdata/events/*.json", "../sagas/testdata/events/*.json"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		files = append(files, found...)
	}
	folds := map[string][]sample{}
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
		event, err := catalogue.Decode(named[:at], schema, compact.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, category := range s.Categories() {
			if accepts(s, category, event) {
				folds[category] = append(folds[category], sample{named, event, renamed(t, catalogue, event)})
			}
		}
	}
	for _, category := range s.Categories() {
		if len(folds[category]) == 0 {
			t.Errorf("no golden event is of %s", category)
		}
	}
	return s, folds
}

// accepts tells whether a decider folds events of this type.
func accepts(s *eventstore.Store, category string, e domain.Event) (does bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, is := p.(*runtime.TypeAssertionError); !is {
				panic(p)
			}
		}
	}()
	s.Evolve(category, nil, e)
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
func chances(t *testing.T, each func(t *testing.T, s *eventstore.Store, category string, history []sample)) {
	t.Helper()
	s, folds := deciders(t)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test
	for _, category := range s.Categories() {
		if s.FoldOf(category) == "" {
			continue
		}
		t.Run(category, func(t *testing.T) {
			t.Logf("seed %d", seed)
			for range 60 {
				history := make([]sample, 2+random.IntN(60))
				for i := range history {
					history[i] = folds[category][random.IntN(len(folds[category]))]
				}
				each(t, s, category, history)
			}
		})
	}
}
