package projections

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain/account"
)

// counted is how many calls stand under a key.
func (p *panel) counted(t *testing.T, key string) (n int) {
	t.Helper()
	err := p.owner.QueryRow(t.Context(), `select coalesce(sum(cardinality(calls)), 0) from rate_windows where key = $1`, key).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAStandingIsAskedForAlongWithTheFirstQuestion(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, open(1, "a@example.com"), open(2, "b@example.com"))
	limit := Limit{Key: "user:1", Calls: 2, Window: time.Minute}
	for i, c := range []struct {
		what     string
		standing *CallerCheck
		holds    bool
		counted  int
	}{
		{"as remembered", &CallerCheck{User: 1, Session: 1, Version: 1, Limit: limit}, true, 1},
		{"in whichever version", &CallerCheck{User: 1, Session: 1, Limit: limit}, true, 2},
		{"once too often", &CallerCheck{User: 1, Session: 1, Limit: limit}, true, 2},
		{"in another version", &CallerCheck{User: 1, Session: 1, Version: 2, Limit: limit}, false, 2},
		{"in another session", &CallerCheck{User: 1, Session: 2, Version: 1, Limit: limit}, false, 2},
		{"not counted", &CallerCheck{User: 1, Session: 1, Version: 1}, true, 2},
		{"not counted, in another version", &CallerCheck{User: 1, Session: 1, Version: 7}, false, 2},
		{"of an unknown user", &CallerCheck{User: 4711, Session: 1, Version: 1, Limit: limit}, false, 2},
	} {
		s := p.For(Caller{User: 1}).Given(c.standing)
		if _, err := s.Accounts().User(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Accounts().User(t.Context(), 2); err == nil { // asks nothing of the standing again
			t.Fatal("another user's account")
		}
		left, holds := s.Holds(t.Context())
		if holds != c.holds || p.counted(t, "user:1") != c.counted {
			t.Errorf("%s: %v, %d counted", c.what, holds, p.counted(t, "user:1"))
		}
		if c.holds && c.standing.Limit != (Limit{}) && (left.Allowed != (i < 2) || left.Limit != 2 || left.Remaining != 2-c.counted) {
			t.Errorf("%s: %+v", c.what, left)
		}
	}
}

func TestAMissingCallerCheckIsMadeInTheEnd(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, open(1, "a@example.com"))
	s := p.For(Caller{User: 1}).Given(&CallerCheck{User: 1, Session: 1, Version: 1})
	if _, holds := s.Holds(t.Context()); !holds {
		t.Error("nobody")
	}
	p.do(t, account.GrantMembership{User: 1, Tenant: 7, Role: account.Member, At: noon})
	if _, holds := s.Holds(t.Context()); !holds {
		t.Error("a standing is one call's")
	}
	if _, holds := p.For(Caller{User: 1}).Given(&CallerCheck{User: 1, Session: 1, Version: 1}).Holds(t.Context()); holds {
		t.Error("a member by now")
	}
}

// What a question came to is one thing, who asked it another.
func TestAnAnswerThatCannotBeReadHidesNoStanding(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, open(1, "a@example.com"))
	limit := Limit{Key: "user:1", Calls: 2, Window: time.Minute}
	s := p.For(Caller{User: 1}).Given(&CallerCheck{User: 1, Session: 1, Version: 1, Limit: limit})
	_, err := value[int](t.Context(), s.db, `select u.id from users u`, s.caller.public(), " and false")
	if !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	if _, holds := s.Holds(t.Context()); !holds || p.counted(t, "user:1") != 1 {
		t.Errorf("%v, %d counted", holds, p.counted(t, "user:1"))
	}
	s = p.For(Caller{User: 1}).Given(&CallerCheck{User: 1, Session: 1, Version: 1, Limit: limit})
	if _, err := value[int](t.Context(), s.db, `select 1/(u.id - 1) from users u`, s.caller.public(), ""); err == nil {
		t.Fatal("divided by zero")
	}
	if _, holds := s.Holds(t.Context()); holds || p.counted(t, "user:1") != 1 {
		t.Errorf("a question that failed: %v, %d counted", holds, p.counted(t, "user:1"))
	}
}

// A call that takes long keeps no other call of the same user waiting.
func TestACallIsCountedWhenItsQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	url := database(t)
	p, other := openPanelAt(t, url), openPanelAt(t, url)
	p.do(t, open(1, "a@example.com"))
	asks := func(of *panel, question string) (holds bool) {
		s := of.For(Caller{User: 1}).Given(
			&CallerCheck{User: 1, Session: 1, Version: 1, Limit: Limit{Key: "user:1", Calls: 9, Window: time.Minute}},
		)
		if _, err := value[int](t.Context(), s.db, question, &where{conditions: []string{"true"}}, ""); err != nil {
			t.Error(err)
		}
		_, holds = s.Holds(t.Context())
		return holds
	}
	lock, err := p.owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(t.Context(), `select pg_advisory_xact_lock(4711)`); err != nil {
		t.Fatal(err)
	}
	slow := make(chan bool)
	go func() { slow <- asks(other, `select 1 from (select pg_advisory_xact_lock_shared(4711)) waited`) }()
	for range 3 {
		if !asks(p, `select 1`) {
			t.Error("a quick call was not confirmed")
		}
	}
	select {
	case <-slow:
		t.Error("the slow call did not wait")
	default:
	}
	if err := lock.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !<-slow || p.counted(t, "user:1") != 4 {
		t.Errorf("%d counted", p.counted(t, "user:1"))
	}
}
