package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/domain/masking"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// State is the record of a stream as of a moment, folded from its events. Before
// the first event there is none.
func (s *Service) State(ctx context.Context, who projections.Caller, stream domain.Stream, at audit.Moment) (audit.State, error) {
	history, err := s.until(ctx, who, stream, at)
	if err != nil {
		return audit.State{}, err
	}
	fold, err := s.fold(stream, history)
	if err != nil {
		return audit.State{}, err
	}
	record, err := fold.Record()
	if err != nil {
		return audit.State{}, err
	}
	s.Looked(ctx, who, stream.String())
	last := history[len(history)-1]
	found := audit.State{
		Stream: stream.String(), Version: last.Version, AsOf: at.Time, RecordedAt: last.RecordedAt,
		Record: masking.JSON(object(record)), Erased: fold.Erased(),
	}
	switch {
	case at.Version != 0:
		found.AsOf = last.RecordedAt
	case at.Time.IsZero():
		found.AsOf = s.store.Clock().Now().UTC()
	}
	return found, nil
}

// until is the history of a stream up to a moment, as far as the caller may look at
// it. A version that does not exist is answered like a missing stream.
func (s *Service) until(
	ctx context.Context, who projections.Caller, stream domain.Stream, at audit.Moment,
) ([]eventstore.RecordedEvent, error) {
	history, err := s.store.Reader().Afresh().ReadUntil(ctx, stream, at.Version, at.Time)
	if err != nil {
		return nil, err
	}
	foreign := func(e eventstore.RecordedEvent) bool { return !who.SeesTenant(e.Tenant) }
	if len(history) < max(at.Version, 1) || slices.ContainsFunc(history, foreign) {
		return nil, errForeign
	}
	return history, nil
}

// fold folds a history.
func (s *Service) fold(stream domain.Stream, history []eventstore.RecordedEvent) (*eventstore.PastRecord, error) {
	fold, served := s.store.PastRecord(stream)
	if !served {
		return nil, errForeign
	}
	for _, e := range history {
		if err := fold.Apply(e); err != nil {
			return nil, err
		}
	}
	return fold, nil
}

func object(record map[string]json.RawMessage) []byte {
	text, err := json.Marshal(record)
	if err != nil {
		panic("audit: a folded record is no JSON: " + err.Error()) // it was made of JSON
	}
	return text
}

// Diff compares a stream at two moments, field by field. A moment before the first
// event is an empty record; a later one than the other is exchanged with it.
func (s *Service) Diff(ctx context.Context, who projections.Caller, stream domain.Stream, from, to audit.Moment) ([]audit.Change, error) {
	history, err := s.until(ctx, who, stream, audit.Moment{})
	if err != nil {
		return nil, err
	}
	first, last := cut(history, from), cut(history, to)
	if to == (audit.Moment{}) {
		last = len(history)
	}
	if first > last {
		first, last = last, first
	}
	s.Looked(ctx, who, stream.String())
	labels, err := s.labels(ctx, who, history[first:last])
	if err != nil {
		return nil, err
	}
	return s.compare(stream, history[:last], first, labels)
}

// cut is the number of events up to a moment.
func cut(history []eventstore.RecordedEvent, at audit.Moment) int {
	if at.Time.IsZero() {
		return min(at.Version, len(history))
	}
	later := func(e eventstore.RecordedEvent) bool { return e.RecordedAt.After(at.Time) }
	if i := slices.IndexFunc(history, later); i >= 0 {
		return i
	}
	return len(history)
}

// compare folds a history, and compares the record after its first events with that
// at its end.
func (s *Service) compare(
	stream domain.Stream, history []eventstore.RecordedEvent, first int, labels map[string]string,
) ([]audit.Change, error) {
	fold, err := s.fold(stream, history[:first])
	if err != nil {
		return nil, err
	}
	before, err := leavesOf(fold, first)
	if err != nil {
		return nil, err
	}
	now, changed := before, map[string]eventstore.RecordedEvent{}
	for _, e := range history[first:] {
		if err := fold.Apply(e); err != nil {
			return nil, err
		}
		next, err := leavesOf(fold, e.Version)
		if err != nil {
			return nil, err
		}
		for _, name := range differing(now, next) {
			changed[name] = e
		}
		now = next
	}
	var changes []audit.Change
	for _, name := range differing(before, now) {
		e := changed[name]
		actor := audit.ActorNamed(e.Metadata.Actor)
		actor.Label = labels[e.Metadata.Actor]
		changes = append(changes, audit.Change{
			Field: name, From: before[name], To: now[name], Position: e.Position, Version: e.Version, Actor: actor,
			RecordedAt: e.RecordedAt,
		})
	}
	return changes, nil
}

// leavesOf are the fields of a record with their paths, down to what is no object,
// without secrets. Of no events there are none.
func leavesOf(fold *eventstore.PastRecord, version int) (map[string]json.RawMessage, error) {
	leaves := map[string]json.RawMessage{}
	if version == 0 {
		return leaves, nil
	}
	record, err := fold.Record()
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(masking.JSON(object(record)), &all); err != nil {
		return nil, fmt.Errorf("compare states: %w", err)
	}
	gather(leaves, "", all)
	return leaves, nil
}

func gather(leaves map[string]json.RawMessage, path string, all map[string]json.RawMessage) {
	for name, value := range all {
		var inner map[string]json.RawMessage
		if bytes.HasPrefix(value, []byte("{")) && json.Unmarshal(value, &inner) == nil {
			gather(leaves, path+name+".", inner)
			continue
		}
		leaves[path+name] = value
	}
}

// differing are the names of the leaves that are not the same in both, sorted.
func differing(a, b map[string]json.RawMessage) (names []string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !bytes.Equal(a[name], b[name]) {
			names = append(names, name)
		}
	}
	return names
}
