package program_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/cmd/hostpanel/program"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// A database that this program has not brought up to date is refused by its commands, among
// them the backup. They name what is missing and what to do.
func TestCommandsAreRefusedOnADatabaseOfAnEarlierSchema(t *testing.T) {
	t.Parallel()
	whole := eventstoretest.Owner(t, eventstoretest.URL(t, program.Migrations()...))
	level, err := eventstore.AllMigrated(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	last := level[0]
	for _, m := range level {
		if m.Area == "log" {
			last = m
		}
	}
	earlier := eventstoretest.Database(t, "earlier", func(ctx context.Context, url string) error {
		owner, err := eventstore.ConnectOwner(ctx, url)
		if err != nil {
			return err
		}
		defer owner.Close()
		var before []eventstore.Migrated
		for _, m := range level {
			if m != last {
				before = append(before, m)
			}
		}
		return pgx.BeginFunc(ctx, owner, func(tx pgx.Tx) error { return eventstore.MigrateTo(ctx, tx, before, program.Migrations()...) })
	})
	dir := t.TempDir()
	for _, as := range []program.Part{program.Reading, program.Keeping, program.Working} {
		_, err := openedAsOf(t.Context(), earlier, dir, "", time.Time{}, as)
		if !errors.Is(err, eventstore.ErrOutdated) || !strings.Contains(err.Error(), last.Name) || !strings.Contains(err.Error(), "hostpanel migrate") {
			t.Errorf("opened as %d: %v", as, err)
		}
	}
	p, err := opened(t.Context(), earlier, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if p, err = openedAsOf(t.Context(), earlier, dir, "", time.Time{}, program.Keeping); err != nil {
		t.Fatalf("once it is up to date: %v", err)
	}
	p.Close()
}
