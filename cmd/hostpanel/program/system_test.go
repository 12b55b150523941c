//go:build system

package program_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/eventstore"
	"hostpanel/eventstore/erasures"
	"hostpanel/eventstore/eventstoretest"
)

func TestFiguresAreReadFromTheDatabaseWhenAskedFor(t *testing.T) {
	p := programtest.Demo(t)
	found := programtest.Figures(t, p)
	if found["hostpanel_up"] != 1 || found["hostpanel_log_position"] < 10 ||
		found["hostpanel_projection_live{orders}"] != 1 {
		t.Errorf("%v", found)
	}
	// A demo has no witness and no reader of its log.
	read := map[string]bool{
		"hostpanel_log_witness_trouble": true, "hostpanel_reader_lag_events": true, "hostpanel_reader_lag_seconds": true,
	}
	for name := range found {
		name, _, _ = strings.Cut(name, "{")
		read[name] = true
	}
	for name := range namesIn(p.Figures()) {
		if !read[name] {
			t.Errorf("%s is missing in %v", name, found)
		}
	}
}

// A view of the past and a command erase no person. On a database that is older than an
// erasure they are refused, until the panel of today has erased the person there.
func TestLooksAreRefusedUntilAllAreErased(t *testing.T) {
	t.Parallel()
	second := filepath.Join(t.TempDir(), "erasures")
	fill := withPeople(t.TempDir())
	live, older := eventstoretest.Database(t, "people", fill), eventstoretest.Database(t, "people", fill)
	p, err := opened(t.Context(), live, t.TempDir(), second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if err := p.Sagas.Accounts.Erase(t.Context(), program.AtConsole, customer); err != nil {
		t.Fatal(err)
	}
	at := p.Store.Clock().Now()
	looks := func(url string, as program.Part) error {
		v, err := openedAsOf(t.Context(), url, t.TempDir(), second, at, as)
		if err == nil {
			v.Close()
		}
		return err
	}
	if err := looks(live, program.Viewing); err != nil {
		t.Error(err)
	}
	for _, as := range []program.Part{program.Viewing, program.Reading} {
		if err := looks(older, as); !errors.Is(err, erasures.ErrMissing) {
			t.Errorf("on an older database: %v", err)
		}
	}
	at = time.Time{} // commands of today
	for url, as := range map[string]program.Part{live: program.Reading, older: program.Keeping} {
		if err := looks(url, as); err != nil {
			t.Errorf("a command as %d: %v", as, err)
		}
	}
	if err := looks(older, program.Reading); !errors.Is(err, erasures.ErrMissing) {
		t.Errorf("a command that shows people, on an older database: %v", err)
	}
	q, err := opened(t.Context(), older, t.TempDir(), second)
	if err != nil {
		t.Fatal(err)
	}
	q.Close()
	if err := looks(older, program.Reading); err != nil {
		t.Errorf("when the person is erased again: %v", err)
	}
}

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

func TestAWrongKeyIsRefusedBeforeAnythingIsChanged(t *testing.T) {
	t.Parallel()
	earlier, _, _ := eventstoretest.Earlier(t, 1, program.Migrations()...)
	owner := eventstoretest.Owner(t, earlier)
	if err := eventstore.CheckSecretKeys(t.Context(), owner, eventstoretest.RotatedKeys(t)); err != nil {
		t.Fatal(err)
	}
	level, err := eventstore.AllMigrated(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened(t.Context(), earlier, t.TempDir(), ""); !errors.Is(err, eventstore.ErrSecretKey) {
		t.Errorf("the start: %v", err)
	}
	if after, err := eventstore.AllMigrated(t.Context(), owner); err != nil || !slices.Equal(after, level) {
		t.Errorf("the schema is at %v: %v", after, err)
	}
}
