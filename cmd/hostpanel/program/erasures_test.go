package program_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/operations"
	"hostpanel/eventstore/erasures"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
)

// opened is a panel on a database, with the list of erasures in two places.
func opened(ctx context.Context, url, dir, second string) (*program.Program, error) {
	return openedAsOf(ctx, url, dir, second, time.Time{}, program.Serving)
}

func openedAsOf(ctx context.Context, url, dir, second string, at time.Time, as program.Part) (*program.Program, error) {
	cfg, err := config.New(config.Settings{
		DatabaseURL: url, DataDir: dir, PublicURL: "https://panel.example.com", SecretKey: programtest.SecretKey,
		ErasuresCopy: second, AsOf: at,
	}, false)
	if err != nil {
		return nil, err
	}
	ctx = domain.Origin{Cause: domain.OperatorCause(uuid.New())}.With(ctx)
	p, err := program.Open(ctx, cfg, slog.New(slog.DiscardHandler), as)
	if err == nil {
		p.Store.Attach(eventstoretest.Caused())
	}
	return p, err
}

const (
	customer, colleague = 1, 2 // numbers of the accounts
)

// withPeople fills a database with two accounts of which the log is sealed.
func withPeople(dir string) func(ctx context.Context, url string) error {
	return func(ctx context.Context, url string) error {
		p, err := opened(ctx, url, dir, "")
		if err != nil {
			return err
		}
		defer p.Close()
		for user, email := range map[int64]string{customer: "ana@customer.example", colleague: "ben@customer.example"} {
			subject, err := p.Store.Subject(ctx, email)
			if err != nil {
				return err
			}
			open := account.Open{
				User: user, SubjectID: subject, Email: email, Name: "A Person", Language: "en",
				Superuser: user == colleague, At: p.Store.Clock().Now(),
			}
			if err := p.Sagas.Accounts.Open(ctx, program.AtConsole, open, "correct horse battery"); err != nil {
				return err
			}
		}
		_, err = p.Sealer.Seal(ctx)
		return err
	}
}

// A database that is older than an erasure is served only when the person is erased again.
func TestAnOlderDatabaseErasesAgainBeforeItServes(t *testing.T) {
	t.Parallel()
	dir, second := t.TempDir(), filepath.Join(t.TempDir(), "erasures")
	fill := withPeople(t.TempDir())
	live, backup := eventstoretest.Database(t, "people", fill), eventstoretest.Database(t, "people", fill)
	opens := func(url, dir, second string) *program.Program {
		t.Helper()
		p, err := opened(t.Context(), url, dir, second)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p
	}
	p := opens(live, dir, second)
	if err := p.Sagas.Accounts.Erase(t.Context(), program.AtConsole, customer); err != nil {
		t.Fatal(err)
	}
	erased := subjectsOf(t, p, customer)
	for _, file := range []string{filepath.Join(dir, "erasures"), second} {
		list, err := erasures.Read(file)
		if err != nil || len(list.Erasures) != 1 || !slices.Contains(erased, list.Erasures[0].Subject) {
			t.Errorf("%s: %+v, %v", file, list, err)
		}
	}

	q := opens(backup, t.TempDir(), second)
	scope := q.Tables.For(projections.System)
	if _, known, err := scope.Accounts().UserByEmail(t.Context(), "ana@customer.example"); err != nil || known {
		t.Errorf("the erased person has an account: %t, %v", known, err)
	}
	if other, known, err := scope.Accounts().UserByEmail(t.Context(), "ben@customer.example"); err != nil || !known ||
		!other.IsActive {
		t.Errorf("the other person has none: %+v, %v", other, err)
	}
	var keys, passwords int
	if err := q.Pool.QueryRow(t.Context(), `select (select count(*) from subject_keys where subject = any($1) and
		purpose = 'contact' and wrapped <> ''),
		(select count(*) from credentials
			where user_id = $2)`, erased, customer).Scan(&keys, &passwords); err != nil || keys+passwords != 0 {
		t.Errorf("%d keys and %d passwords of the erased person are left, %v", keys, passwords, err)
	}
	head, _, err := q.Store.Reader().Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again := opens(backup, t.TempDir(), second)
	if after, _, err := again.Store.Reader().Head(t.Context()); err != nil || after != head {
		t.Errorf("a second start adds %d events, %v", after-head, err)
	}
	list, err := erasures.Read(second)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := again.ApplyErasures(t.Context(), list); err != nil || n != 0 {
		t.Errorf("%d people are erased a third time, %v", n, err)
	}
}

// subjectsOf are the subjects in the history of an account.
func subjectsOf(t *testing.T, p *program.Program, user int64) (all []uuid.UUID) {
	t.Helper()
	history, err := p.Store.Read(t.Context(), account.Stream(user))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range history {
		all = append(all, e.Subjects...)
	}
	return all
}

// An erasure is done although the list cannot be written: operators hear of it, until it
// is written.
func TestAListThatCannotBeWrittenIsAnIncident(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "mounted")
	url := eventstoretest.Database(t, "people", withPeople(t.TempDir()))
	p, err := opened(t.Context(), url, t.TempDir(), filepath.Join(folder, "erasures"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	open := func() map[string]int64 {
		t.Helper()
		found, err := p.Tables.For(projections.System).Operations().OpenIncidents(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if err := p.Sagas.Accounts.Erase(t.Context(), program.AtConsole, customer); err != nil {
		t.Fatal(err)
	}
	if n := open()[operations.ErasuresNotKept]; n != 1 {
		t.Errorf("%d incidents", n)
	}
	mkdir(t, folder)
	p.ListErasures(t.Context())
	if n := open()[operations.ErasuresNotKept]; n != 0 {
		t.Errorf("%d incidents are open", n)
	}
	if list, err := erasures.Read(filepath.Join(folder, "erasures")); err != nil || len(list.Erasures) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

func mkdir(t *testing.T, folder string) {
	t.Helper()
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
}
