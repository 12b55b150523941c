package catalogue_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"

	"hostpanel/domain"
)

var update = flag.Bool("update", false, "write testdata/folds.json anew for folds with another number, and for new events")

// A keptFold is what a fold has made of some events.
type keptFold struct {
	Fold   string   `json:"fold"`
	Events []string `json:"events"`
	States string   `json:"states"` // hash of the states after all pairs of them
}

// A snapshot outlives the program that wrote it. A program that folds the same events into
// another state needs another number of the fold ([domain.Decider]).
func TestAFoldThatChangesHasAnotherNumber(t *testing.T) {
	s, events := deciders(t)
	const file = "testdata/folds.json"
	kept := map[string]keptFold{}
	if data, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(data, &kept); err != nil {
			t.Fatal(err)
		}
	}
	now := map[string]keptFold{}
	for _, category := range s.Categories() {
		fold, was := s[category].Number, kept[category]
		if fold == "" {
			continue
		}
		if was.Fold == fold && was.States != statesOf(t, s, category, events[category], was.Events) {
			t.Errorf(
				"%s folds events into other states than before: raise the Fold of its decider, and run the test with -update",
				category,
			)
			now[category] = was
			continue
		}
		var names []string
		for _, e := range events[category] {
			names = append(names, e.name)
		}
		now[category] = keptFold{fold, names, statesOf(t, s, category, events[category], names)}
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
func statesOf(t *testing.T, s folds, category string, samples []sample, names []string) string {
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
			pair := s[category].Evolve(s[category].Evolve(nil, of[first]), of[second])
			all = s[category].Evolve(s[category].Evolve(all, of[first]), of[second])
			h.Write([]byte(encoded(t, pair) + encoded(t, all)))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
