package eventstore_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

func TestADatabaseThatIsAwayIsSaidToBe(t *testing.T) {
	s := eventstoretest.Store(t, facts)
	eventstore.Serve(s, "till", tills)
	s.Pool().Close()
	_, err := s.Execute(t.Context(), domain.Metadata{}, putIn{"a", 1})
	if !errors.Is(err, eventstore.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

// W-5, W-11: no statement and no idle transaction of ours lasts.
func TestWhatTakesTooLongIsEnded(t *testing.T) {
	url := eventstoretest.URL(t)
	for name, pool := range map[string]*pgxpool.Pool{"work": eventstoretest.Pool(t, url), "reading": eventstoretest.Readers(t, url)} {
		var statement, idle string
		err := pool.QueryRow(t.Context(), `select current_setting('statement_timeout'),
			current_setting('idle_in_transaction_session_timeout')`).Scan(&statement, &idle)
		if err != nil || statement != "30s" || idle != "10s" {
			t.Errorf("%s: %q, %q, %v", name, statement, idle, err)
		}
	}
}
