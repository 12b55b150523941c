package eventstoretest

import (
	"encoding/json"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// EveryVersion fails the test if a record as of a version is not what the fold said when
// that event was the last one: each is folded anew from the log. It returns the categories
// that the log has.
func EveryVersion(t testing.TB, s *eventstore.Store) map[string]bool {
	t.Helper()
	folds, then, categories := map[domain.Stream]*eventstore.PastRecord{}, map[domain.Stream][]string{}, map[string]bool{}
	err := s.Reader().Afresh().Replay(t.Context(), 0, func(e eventstore.RecordedEvent) error {
		if folds[e.Stream] == nil {
			folds[e.Stream], categories[e.Stream.Category] = s.PastRecord(e.Stream)
		}
		err := folds[e.Stream].Apply(e)
		then[e.Stream] = append(then[e.Stream], RecordOf(t, folds[e.Stream]))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for stream, records := range then {
		for i := range records {
			if now := RecordOf(t, FoldedUntil(t, s, stream, i+1)); now != records[i] {
				t.Fatalf("%s/%d was\n%s\nand is\n%s", stream, i+1, records[i], now)
			}
		}
	}
	return categories
}

// RecordOf is the folded record as its JSON.
func RecordOf(t testing.TB, fold *eventstore.PastRecord) string {
	t.Helper()
	record, err := fold.Record()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// FoldedUntil folds a stream up to a version.
func FoldedUntil(t testing.TB, s *eventstore.Store, stream domain.Stream, version int) *eventstore.PastRecord {
	t.Helper()
	events, err := s.Reader().Afresh().ReadUntil(t.Context(), stream, version, time.Time{})
	if err != nil || len(events) != version {
		t.Fatal(stream, version, len(events), err)
	}
	fold, _ := s.PastRecord(stream)
	for _, e := range events {
		if err := fold.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if fold.Version() != version {
		t.Fatal(fold.Version(), version)
	}
	return fold
}
