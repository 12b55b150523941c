package eventstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// A group whose answer is lost may be in the log. Its members are told that, and are not
// committed again one by one: the second commit would be refused as a conflict.
func TestAGroupWithoutAnAnswerIsNotCommittedAgain(t *testing.T) {
	url := eventstoretest.URL(t)
	cutter := eventstoretest.NewCutter(t, url, `"coins":777`)
	s, owner := storeOn(t, eventstoretest.Pool(t, cutter.URL())), eventstoretest.Owner(t, url)
	answers := make(chan error, 3)
	add := func(till string, coins int) {
		go func() {
			_, err := s.Append(t.Context(), domain.Metadata{}, tillStream(till), 0, nil, coinsPut{coins})
			answers <- err
		}()
	}
	err := pgx.BeginFunc(t.Context(), owner, func(turn pgx.Tx) error {
		if err := eventstore.LockWriters(t.Context(), turn); err != nil {
			return err
		}
		add("first", 1)
		for s.Busy() != 0 { // its group waits for the lock
			time.Sleep(time.Millisecond)
		}
		add("second", 777)
		add("third", 777)
		for s.Busy() != 2 {
			time.Sleep(time.Millisecond)
		}
		cutter.CutAnswer()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	unanswered := 0
	for range cap(answers) {
		if err := <-answers; errors.Is(err, eventstore.ErrUnavailable) {
			unanswered++
		} else if err != nil {
			t.Errorf("an answer that is not true: %v", err)
		}
	}
	if head, _, err := s.Reader().Head(t.Context()); err != nil || head != 3 || unanswered != 2 {
		t.Errorf("%d events, %d calls without an answer, %v", head, unanswered, err)
	}
}

// A request that never reached the database is told to be without an answer, and is not in the log.
func TestARequestThatIsCutOffIsNotInTheLog(t *testing.T) {
	url := eventstoretest.URL(t)
	cutter := eventstoretest.NewCutter(t, url, `"coins":777`)
	s := storeOn(t, eventstoretest.Pool(t, cutter.URL()))
	cutter.CutQuestion()
	_, err := s.Append(t.Context(), domain.Metadata{}, tillStream("a"), 0, nil, coinsPut{777})
	if head, _, read := s.Reader().Head(t.Context()); !errors.Is(err, eventstore.ErrUnavailable) || head != 0 || read != nil {
		t.Errorf("%v, %d events, %v", err, head, read)
	}
}
