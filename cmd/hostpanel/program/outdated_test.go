package program_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/program"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// A database that this program has not brought up to date is refused by its commands, among
// them the backup. They name what is missing and what to do.
func TestCommandsAreRefusedOnADatabaseOfAnEarlierSchema(t *testing.T) {
	t.Parallel()
	earlier, _, lacking := eventstoretest.Earlier(t, 1, program.Migrations()...)
	dir := t.TempDir()
	for _, as := range []program.Part{program.Reading, program.Keeping, program.Working} {
		_, err := openedAsOf(t.Context(), earlier, dir, "", time.Time{}, as)
		if !errors.Is(err, eventstore.ErrOutdated) || !strings.Contains(err.Error(), lacking[0].Name) ||
			!strings.Contains(err.Error(), "hostpanel migrate") {
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
