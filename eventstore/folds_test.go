package eventstore_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/stateform"
	"hostpanel/sagas/assembly"
)

// The tests in this file ask every decider of the program, with histories of the events
// in the golden files, in any order: to fold is possible whatever has happened.

var update = flag.Bool("update", false, "write testdata/folds.json anew for folds with another number, and for new events")

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

func TestAllDecidersButTheOneWithATextHaveSnapshots(t *testing.T) {
	s, _ := deciders(t)
	var without []string
	for _, category := range s.Categories() {
		if s.FoldOf(category) == "" {
			without = append(without, category)
		}
	}
	if !slices.Equal(without, []string{"webhook_endpoint"}) {
		t.Errorf("there are no snapshots of %v: JSON does not keep all of their states", without)
	}
}

// The first part of a history is folded and stored. The rest of it, folded behind what was
// stored, leads to the same state as the whole.
func TestAStoredStateIsExactlyWhatWasFolded(t *testing.T) {
	chances(t, func(t *testing.T, s *eventstore.Store, category string, history []sample) {
		var whole, stored any
		for i := range history {
			whole = s.Evolve(category, whole, history[i].event)
			stored = s.Evolve(category, stored, history[i].event)
			if i%3 == 0 {
				var err error
				if stored, err = s.DecodeState(category, []byte(encoded(t, stored))); err != nil {
					t.Fatal(err)
				}
			}
			if !isSame(reflect.ValueOf(whole), reflect.ValueOf(stored)) {
				t.Fatalf("after %s\n%#v\nis not\n%#v", history[i].name, stored, whole)
			}
		}
	})
}

// isSame compares states. An empty list is the same as none ([domain.Decider]).
func isSame(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Slice:
		if a.Type() == reflect.TypeFor[json.RawMessage]() && (a.Len() == 0 || b.Len() == 0) {
			return a.Len() == b.Len() || string(a.Bytes())+string(b.Bytes()) == "null"
		}
		same := a.Len() == b.Len()
		for i := 0; same && i < a.Len(); i++ {
			same = isSame(a.Index(i), b.Index(i))
		}
		return same
	case reflect.Map:
		same := a.Len() == b.Len()
		for each := a.MapRange(); same && each.Next(); {
			other := b.MapIndex(each.Key())
			same = other.IsValid() && isSame(each.Value(), other)
		}
		return same
	case reflect.Struct:
		if amount, is := a.Interface().(decimal.Decimal); is {
			return amount.Equal(b.Interface().(decimal.Decimal))
		}
		if a.NumField() > 0 && !a.Type().Field(0).IsExported() { // a time
			return reflect.DeepEqual(a.Interface(), b.Interface())
		}
		same := true
		for i := 0; same && i < a.NumField(); i++ {
			same = isSame(a.Field(i), b.Field(i))
		}
		return same
	case reflect.Pointer:
		return a.IsNil() == b.IsNil() && (a.IsNil() || isSame(a.Elem(), b.Elem()))
	default:
		return a.Equal(b)
	}
}

// No text that the log seals gets into a state, so none gets into a snapshot.
func TestNoStateDependsOnPersonalTexts(t *testing.T) {
	chances(t, func(t *testing.T, s *eventstore.Store, category string, history []sample) {
		var state, other any
		for i := range history {
			state, other = s.Evolve(category, state, history[i].event), s.Evolve(category, other, history[i].renamed)
			if !isSame(reflect.ValueOf(state), reflect.ValueOf(other)) || strings.Contains(encoded(t, other), canary) {
				t.Fatalf("%s leads to\n%#v\nand with other texts to\n%#v", history[i].name, state, other)
			}
		}
	})
}

// Decisions share the states in the cache: what one of them folds changes nothing of what
// another one has.
func TestToFoldAnEventLeavesTheStateBeforeAsItWas(t *testing.T) {
	chances(t, func(t *testing.T, s *eventstore.Store, category string, history []sample) {
		var state any
		for i := 1; i < len(history); i++ {
			state = s.Evolve(category, state, history[i-1].event)
			roomy(reflect.ValueOf(&state).Elem())
			before := encoded(t, state)
			one := s.Evolve(category, state, history[i].event)
			then := encoded(t, one)
			s.Evolve(category, state, history[(i*7)%len(history)].event)
			if encoded(t, state) != before || encoded(t, one) != then || !roomIsEmpty(reflect.ValueOf(state)) {
				t.Fatalf("%s has changed the state before it", history[i].name)
			}
		}
	})
}

// roomy gives the slices in a state's own fields room for more, which an append would use.
func roomy(state reflect.Value) {
	own := reflect.New(state.Elem().Type()).Elem()
	own.Set(state.Elem())
	if own.Kind() == reflect.Struct {
		for i := range own.NumField() {
			if f := own.Field(i); f.Kind() == reflect.Slice && f.Len() > 0 {
				more := reflect.MakeSlice(f.Type(), f.Len(), f.Len()+2)
				reflect.Copy(more, f)
				f.Set(more)
			}
		}
	}
	state.Set(own)
}

// roomIsEmpty tells whether nothing was appended in that room.
func roomIsEmpty(state reflect.Value) bool {
	if state.Kind() != reflect.Struct {
		return true
	}
	for i := range state.NumField() {
		f := state.Field(i)
		if f.Kind() != reflect.Slice {
			continue
		}
		for n := f.Len(); n < f.Cap(); n++ {
			if !f.Slice(0, f.Cap()).Index(n).IsZero() {
				return false
			}
		}
	}
	return true
}

// A keptFold is what a fold has made of some events.
type keptFold struct {
	Fold   string   `json:"fold"`
	Events []string `json:"events"`
	States string   `json:"states"` // hash of the states after all pairs of them
}

// A snapshot outlives the program that wrote it. A program that folds the same events into
// another state needs another number of the fold ([domain.Decider]).
func TestAFoldThatChangesHasAnotherNumber(t *testing.T) {
	s, folds := deciders(t)
	const file = "testdata/folds.json"
	kept := map[string]keptFold{}
	if data, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(data, &kept); err != nil {
			t.Fatal(err)
		}
	}
	now := map[string]keptFold{}
	for _, category := range s.Categories() {
		fold, was := s.FoldOf(category), kept[category]
		if fold == "" {
			continue
		}
		if was.Fold == fold && was.States != statesOf(t, s, category, folds[category], was.Events) {
			t.Errorf("%s folds events into other states than before: raise the Fold of its decider, and run the test with -update", category)
			now[category] = was
			continue
		}
		var names []string
		for _, e := range folds[category] {
			names = append(names, e.name)
		}
		now[category] = keptFold{fold, names, statesOf(t, s, category, folds[category], names)}
	}
	if reflect.DeepEqual(kept, now) || t.Failed() {
		return
	}
	if !*update {
		t.Fatal("there are folds with another number, or new events (go test -update writes them)")
	}
	data, err := json.MarshalIndent(now, "", "\t")
	if err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// statesOf is a hash of the states after all pairs of the named events, each behind all
// others.
func statesOf(t *testing.T, s *eventstore.Store, category string, samples []sample, names []string) string {
	t.Helper()
	of := map[string]domain.Event{}
	for _, e := range samples {
		of[e.name] = e.event
	}
	h := sha256.New()
	var all any
	for _, first := range names {
		for _, second := range names {
			if of[first] == nil || of[second] == nil {
				return "an event is missing"
			}
			pair := s.Evolve(category, s.Evolve(category, nil, of[first]), of[second])
			all = s.Evolve(category, s.Evolve(category, all, of[first]), of[second])
			h.Write([]byte(encoded(t, pair) + encoded(t, all)))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
