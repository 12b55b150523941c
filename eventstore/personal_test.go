package eventstore_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
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
	if contains(stored, "Ana") {
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
	if _, err := s.Pool().Exec(t.Context(), `delete from subject_keys`); err != nil {
		t.Fatal(err)
	}
	fresh := eventstore.Open(s.Pool(), facts, eventstoretest.Keys(t))
	history, err := fresh.Read(t.Context(), tillStream("b"))
	if err != nil || history[0].Event.(tillOpened).Owner != "" {
		t.Errorf("after erasure: %+v, %v", history, err)
	}
	if verdict, err := fresh.Verify(t.Context(), nil); err != nil || !verdict.Intact {
		t.Errorf("erasure broke the chain: %+v, %v", verdict, err)
	}
}

// Both facts of one request are about somebody new: they share the key that
// is made for that person, or one of them could never be read again.
func TestTwoFactsAboutANewPersonShareTheirKey(t *testing.T) {
	s := newStore(t)
	subject := uuid.New()
	do(t, s, open{"a", "Ana", subject}, open{"b", "Ana Ruiz", subject})
	fresh := eventstore.Open(s.Pool(), facts, eventstoretest.Keys(t))
	for till, want := range map[string]string{"a": "Ana", "b": "Ana Ruiz"} {
		history, err := fresh.Read(t.Context(), tillStream(till))
		if err != nil || history[0].Event.(tillOpened).Owner != want {
			t.Errorf("till %s: %+v, %v", till, history, err)
		}
	}
}

func TestAnEventWithoutPersonalDataNeedsNoKey(t *testing.T) {
	s := newStore(t)
	do(t, s, open{"a", "", uuid.Nil})
	var keys int
	if err := s.Pool().QueryRow(t.Context(), `select count(*) from subject_keys`).Scan(&keys); err != nil || keys != 0 {
		t.Errorf("%d keys were made for nobody (%v)", keys, err)
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
				_, err = s.Execute(context.Background(), domain.Cause{}, open{uuid.NewString(), "Ana", subject})
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
