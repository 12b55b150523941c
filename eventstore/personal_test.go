package eventstore_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
)

func TestPersonalDataIsSealedInTheLogAndClearToReaders(t *testing.T) {
	s := newStore(t)
	subject := uuid.New()
	do(t, s, open{"a", "Ana Ruiz", subject})
	do(t, s, open{"b", "Ana Ruiz", subject})
	var stored string
	if err := s.Pool().QueryRow(t.Context(), `select string_agg(data::text, '') from events`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(stored, "Ana") {
		t.Errorf("clear text in the log: %s", stored)
	}
	read := func() string {
		history, err := s.Read(t.Context(), tillStream("b"))
		if err != nil {
			t.Fatal(err)
		}
		return history[0].Event.(tillOpened).Owner
	}
	if read() != "Ana Ruiz" {
		t.Errorf("reads as %q", read())
	}
}

// The three reasons are distinguished: erased, key missing, and corrupt.
func TestATextThatDoesNotOpenSaysWhy(t *testing.T) {
	url, subject := eventstoretest.URL(t), uuid.New()
	s := storeOn(t, eventstoretest.Pool(t, url))
	do(t, s, open{"a", "Ana", subject}, open{"b", "Ana Ruiz", subject})
	owner := eventstoretest.Owner(t, url)
	sql := func(sql string, args ...any) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	sql(`alter table events disable trigger user`)
	read := func() (string, error) {
		fresh := eventstore.Open(s.Pool(), facts, eventstoretest.Keys(t), eventstoretest.Caused())
		history, err := fresh.Read(t.Context(), tillStream("b"))
		if err != nil {
			return "", err
		}
		return history[0].Event.(tillOpened).Owner, nil
	}
	stored := func(till string) (data string) {
		if err := s.Pool().QueryRow(t.Context(), `select data from events where stream = $1`, tillStream(till).
			String()).Scan(&data); err != nil {
			t.Fatal(err)
		}
		return data
	}
	original := stored("b")
	changed := strings.Replace(original, `"}`, `x"}`, 1)
	for what, data := range map[string]string{
		"changed": changed, "moved from another event": stored("a"),
		"moved to another field": strings.Replace(original, `"owner":`, `"former_owner":`, 1),
	} {
		sql(`update events set data = $1 where stream = 'till-b'`, data)
		if text, err := read(); !errors.Is(err, sealing.ErrBroken) {
			t.Errorf("%s: %q, %v", what, text, err)
		}
	}
	sql(`update events set data = $1 where stream = 'till-b'`, original)

	sql(`create table set_aside as select * from subject_keys`)
	sql(`delete from subject_keys`)
	if text, err := read(); !errors.Is(err, sealing.ErrKey) {
		t.Errorf("without a key: %q, %v", text, err)
	}
	sql(`insert into subject_keys select * from set_aside`)
	if text, err := read(); err != nil || text != "Ana Ruiz" {
		t.Errorf("with the key again: %q, %v", text, err)
	}

	if _, err := s.ExecuteWith(t.Context(), domain.Metadata{}, eventstore.EraseRows(subject)); err != nil {
		t.Fatal(err)
	}
	if text, err := read(); err != nil || text != "" {
		t.Errorf("erased: %q, %v", text, err)
	}
	intact(t, s, 2)
}

// Two events of one request about a new person are sealed with the same new key.
// With two keys, one of the events could not be read again.
func TestTwoEventsAboutANewPersonShareTheirKey(t *testing.T) {
	s := newStore(t)
	subject := uuid.New()
	do(t, s, open{"a", "Ana", subject}, open{"b", "Ana Ruiz", subject})
	fresh := eventstore.Open(s.Pool(), facts, eventstoretest.Keys(t), eventstoretest.Caused())
	for till, want := range map[string]string{"a": "Ana", "b": "Ana Ruiz"} {
		history, err := fresh.Read(t.Context(), tillStream(till))
		if err != nil || history[0].Event.(tillOpened).Owner != want {
			t.Errorf("till %s: %+v, %v", till, history, err)
		}
	}
}

// What is about a person is found in all streams, and shown without what others have in
// the same streams.
func TestEventsAboutAPersonTellNothingOfOthers(t *testing.T) {
	s := newStore(t)
	ana, ben := uuid.New(), uuid.New()
	do(t, s, open{"a", "Ana", ana}, open{"b", "Ben", ben})
	own, err := s.Reader().About(t.Context(), []string{"user:0"}, []domain.Stream{tillStream("b")}, ana)
	if err != nil || len(own) != 2 {
		t.Fatalf("%+v, %v", own, err)
	}
	for i, want := range []string{"Ana", ""} {
		if got := own[i].Event.(tillOpened).Owner; got != want {
			t.Errorf("event %d: the owner is %q, want %q", i, got, want)
		}
	}
}

func TestAnEventWithoutPersonalDataNeedsNoKey(t *testing.T) {
	s := newStore(t)
	do(t, s, open{"a", "", uuid.Nil})
	var keys int
	if err := s.Pool().QueryRow(t.Context(), `select count(*) from subject_keys`).Scan(&keys); err != nil || keys != 0 {
		t.Errorf("%d keys were created without a subject (%v)", keys, err)
	}
}

func TestOnePersonHasOneSubject(t *testing.T) {
	s := newStore(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	subjects := map[uuid.UUID]bool{}
	for range 20 {
		wg.Go(func() {
			subject, err := s.Subject(context.Background(), " Ana@Example.com ")
			if err == nil {
				_, err = s.Execute(context.Background(), domain.Metadata{}, open{uuid.NewString(), "Ana", subject})
			}
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			subjects[subject] = true
		})
	}
	wg.Wait()
	if len(subjects) != 1 {
		t.Errorf("%d subjects", len(subjects))
	}
}

// A person who was made here has no key yet, and none is looked for. The one that they get
// is known.
func TestANewPersonIsMadeAndSealedForInFewTrips(t *testing.T) {
	s := newStore(t)
	subjectOf := func(email string) uuid.UUID {
		subject, err := s.Subject(t.Context(), email)
		if err != nil {
			t.Fatal(err)
		}
		return subject
	}
	subjectOf("ben@example.com") // makes the key of addresses
	var ana uuid.UUID
	if n := trips(s, func() { ana = subjectOf("ana@example.com") }); n != 1 {
		t.Errorf("a person is made in %d trips", n)
	}
	for _, till := range []string{"a", "b"} {
		if n := trips(s, func() { do(t, s, open{till, "Ana", ana}) }); n != 2 {
			t.Errorf("the stream is read and the event appended in %d trips", n)
		}
	}
}

// Another process may find a person whom this one has made, and be the first to need the
// key.
func TestAPersonWhoWasMadeHereMayHaveGotAKeyElsewhere(t *testing.T) {
	s := newStore(t)
	ana, err := s.Subject(t.Context(), "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	do(t, storeOn(t, s.Pool()), open{"a", "Ana", ana})
	do(t, s, open{"b", "Ana Ruiz", ana})
	for till, want := range map[string]string{"a": "Ana", "b": "Ana Ruiz"} {
		history, err := storeOn(t, s.Pool()).Read(t.Context(), tillStream(till))
		if err != nil || history[0].Event.(tillOpened).Owner != want {
			t.Errorf("till %s: %+v, %v", till, history, err)
		}
	}
}
