package eventstore

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hostpanel/domain"
)

// A PastRecord is a record as of a moment, folded from the events of its stream. The
// decider of the stream's category folds the state. The events tell the fields of
// the record besides ([domain.Teller]).
type PastRecord struct {
	category category
	state    any
	told     map[string]json.RawMessage
	erased   map[string]bool
	version  int
}

// PastRecord begins to fold a stream. False: no category of that name is served.
func (s *Store) PastRecord(stream domain.Stream) (*PastRecord, bool) {
	served, known := s.states.categories[stream.Category]
	return &PastRecord{category: served, state: served.zero, told: map[string]json.RawMessage{}, erased: map[string]bool{}}, known
}

// Apply folds the next event of the stream.
func (f *PastRecord) Apply(e RecordedEvent) error {
	f.state, f.version = f.category.evolve(f.state, e.Event), e.Version
	for _, pointer := range e.Erased {
		name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		f.erased[name] = true
	}
	teller, tells := e.Event.(domain.Teller)
	if !tells {
		return nil
	}
	told, err := members(teller.Tells())
	if err != nil {
		return fmt.Errorf("fold event %d: %w", e.Position, err)
	}
	maps.Copy(f.told, told)
	for name := range told {
		if string(told[name]) != `""` {
			delete(f.erased, name)
		}
	}
	return nil
}

// Version is that of the last event that was folded.
func (f *PastRecord) Version() int { return f.version }

// Erased are the fields whose texts have been erased, sorted.
func (f *PastRecord) Erased() []string { return slices.Sorted(maps.Keys(f.erased)) }

// Record returns the record by the names of its fields. What the events have told
// comes before what the state says.
func (f *PastRecord) Record() (map[string]json.RawMessage, error) {
	record, err := members(f.state)
	if err != nil {
		return nil, fmt.Errorf("show the state after version %d: %w", f.version, err)
	}
	maps.Copy(record, f.told)
	if shown, is := f.state.(domain.Shown); is {
		shown.Shows(record)
	}
	return record, nil
}

// members are the members of a value's JSON object; of null, none.
func members(v any) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	found := map[string]json.RawMessage{}
	err = json.Unmarshal(text, &found)
	if found == nil {
		found = map[string]json.RawMessage{}
	}
	return found, err
}
