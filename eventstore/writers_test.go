package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

func TestManyWritersAtOnce(t *testing.T) {
	s := newStore(t)
	const writers, each = 64, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range each {
				do(t, s, putIn{fmt.Sprint(w), 1})
			}
			for {
				_, err := s.Execute(context.Background(), domain.Metadata{Actor: "system:test"}, putIn{"shared", 1})
				if err == nil {
					return
				}
				if !errors.Is(err, eventstore.ErrConflict) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	state, version, err := eventstore.Fold(t.Context(), s, tills, tillStream("shared"))
	if err != nil || state.Coins != writers || version != writers {
		t.Errorf("the shared till has %d coins after %d facts (%v)", state.Coins, version, err)
	}
	verdict, err := s.Reader().Verify(t.Context(), nil)
	if err != nil || !verdict.Intact || verdict.Checked != writers*(each+1) {
		t.Errorf("%+v, %v", verdict, err)
	}
}

// A request on many streams gets its turn, however busy each of them is.
func TestARequestOnManyBusyStreamsIsNotOvertakenForEver(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx, halt := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	defer writers.Wait()
	defer halt()
	var all []domain.Command
	for n := range 8 {
		one := putIn{fmt.Sprint("busy", n), 1}
		all = append(all, one)
		writers.Go(func() {
			for ctx.Err() == nil {
				if _, err := s.Execute(ctx, domain.Metadata{Actor: "system:test"}, one); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	for range 20 {
		do(t, s, all...)
	}
}

// Each of two processes remembers what it wrote, not what the other did. No
// decision may rest on that.
func TestWhatAnotherProcessHasWrittenCounts(t *testing.T) {
	here := newStore(t)
	there := storeOn(t, here.Pool())
	do(t, here, putIn{"a", 1}, putIn{"a", 1})
	do(t, there, putIn{"a", 3})                                              // now there are five
	do(t, here, takeOut{"a", 4})                                             // refused by what is remembered
	_, err := there.Execute(t.Context(), domain.Metadata{}, takeOut{"a", 4}) // allowed by what is remembered
	if domain.CodeOf(err) != domain.Conflict {
		t.Errorf("took coins that are gone: %v", err)
	}
	cause := domain.Metadata{ID: uuid.New()}
	for _, s := range []*eventstore.Store{here, there, here} {
		if _, err := s.Execute(t.Context(), cause, putIn{"a", 1}); err != nil {
			t.Error(err)
		}
	}
	if state, version, err := eventstore.Fold(t.Context(), here, tills, tillStream("a")); err != nil || state.Coins != 2 || version != 5 {
		t.Errorf("%d coins after %d facts (%v)", state.Coins, version, err)
	}
}

// A repeated request answers as the first did, also where this process remembers one of
// its streams without what the other process has added.
func TestARequestRepeatedInAnotherProcessAnswersAsTheFirst(t *testing.T) {
	here := newStore(t)
	there := storeOn(t, here.Pool())
	do(t, here, putIn{"b", 1})
	cause := domain.Metadata{ID: uuid.New(), Actor: "system:test"}
	request := []domain.Command{putIn{"a", 1}, putIn{"b", 1}, putIn{"b", 1}}
	first, err := there.Execute(t.Context(), cause, request...)
	if err != nil {
		t.Fatal(err)
	}
	again, err := here.Execute(t.Context(), cause, request...)
	if err != nil || again.Position != first.Position || !maps.Equal(again.Versions, first.Versions) {
		t.Errorf("first %+v, then %+v, %v", first, again, err)
	}
}

// storeOn is a process on a database.
func storeOn(t testing.TB, pool *pgxpool.Pool) *eventstore.Store {
	return serve(eventstore.Open(pool, facts, eventstoretest.Keys(t), eventstoretest.Caused()))
}

func TestOnlyTheGuiltyMemberOfAGroupFails(t *testing.T) {
	s := newStore(t)
	refusal := errors.New("fenced")
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			rows := []eventstore.TxStatement{
				{Key: "x", SQL: `update readers set position = 0 where name = $1`, Args: []any{"an unknown reader"}, WantRows: 0},
			}
			if i%10 == 0 {
				rows[0].WantRows, rows[0].ErrIfNot = 1, refusal
			}
			_, err := s.ExecuteWith(context.Background(), domain.Metadata{}, rows, putIn{fmt.Sprint(i), 1})
			if i%10 == 0 && !errors.Is(err, refusal) || i%10 != 0 && err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if head, _, _ := s.Reader().Head(t.Context()); head != 36 {
		t.Errorf("%d events, want 36", head)
	}
}
