package program_test

import (
	"log/slog"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/programtest"
)

func TestFiguresTellThatTheDatabaseIsAway(t *testing.T) {
	p := programtest.Demo(t)
	p.Log = slog.New(slog.DiscardHandler)
	p.Pool.Close()
	p.Readers.Close()
	found := programtest.Figures(t, p)
	delete(found, "hostpanel_password_hashes_total") // counted without a database
	if len(found) != 1 || found["hostpanel_up"] != 0 {
		t.Errorf("%v", found)
	}
	if checks := p.Ready(t.Context()); checks["database"] == "" {
		t.Errorf("ready without a database: %v", checks)
	}
}

// Readers that are behind, and a transaction that stays open, cost every query more.
func TestFiguresTellWhatIsLate(t *testing.T) {
	p := programtest.Demo(t)
	if _, err := p.Pool.Exec(t.Context(), `insert into readers (name, position) values ('late', 0)`); err != nil {
		t.Fatal(err)
	}
	if found := programtest.Figures(t, p); found["hostpanel_reader_lag_seconds{late}"] <= 0 ||
		found["hostpanel_reader_lag_events{late}"] != found["hostpanel_log_position"] {
		t.Errorf("nothing is unread: %v", found)
	}
	if _, err := p.Pool.Exec(t.Context(), `update readers set position = (select max(position) from events)`); err != nil {
		t.Fatal(err)
	}
	if found := programtest.Figures(t, p); found["hostpanel_reader_lag_seconds{late}"] != 0 {
		t.Errorf("everything is read: %v", found)
	}
	before := time.Now()
	open, err := p.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open.Exec(t.Context(), `select count(*), pg_sleep(0.05) from events`); err != nil {
		t.Fatal(err)
	}
	age := programtest.Figures(t, p)["hostpanel_transaction_oldest_seconds"]
	if age < 0.05 || age > time.Since(before).Seconds() {
		t.Errorf("the oldest transaction is open for %v s", age)
	}
	if err := open.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if age := programtest.Figures(t, p)["hostpanel_transaction_oldest_seconds"]; age >= 0.05 {
		t.Errorf("none is open, and one for %v s", age)
	}
}
