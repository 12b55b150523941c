package program_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/domain"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/idempotency"
	"hostpanel/sagas/assembly"
)

// kept are the rows of a panel that are no events, by the setting that keeps them.
const kept = `select
	(select count(*) from webhook_inbox where body is not null), (select count(*) from saga_attempt), (select
		count(*) from webhook_deliveries)`

// What the business clock ages is deleted after the days of the settings, and not before.
func TestRowsThatAreNoEventsAreKeptAsLongAsTheSettingsSay(t *testing.T) {
	t.Parallel()
	url := eventstoretest.URL(t)
	cfg, err := config.New(config.Settings{
		DatabaseURL: url, DataDir: t.TempDir(), PublicURL: "https://panel.example.com", SecretKey: programtest.SecretKey,
		KeepBodies: "3", KeepAttempts: "5", KeepDeliveries: "7",
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Times = assembly.Defaults
	cfg.Times.Sweep = 20 * time.Millisecond
	ctx, stop := context.WithCancel(domain.Origin{Cause: domain.OperatorCause(uuid.New())}.With(t.Context()))
	p, err := program.Open(ctx, cfg, slog.New(slog.DiscardHandler), program.Serving)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	owner := eventstoretest.Owner(t, url)
	if _, err := owner.Exec(ctx, `
		insert into webhook_inbox (provider, event_id, type, body, body_hash, headers, verified_by, state) values
			('test', 'evt_1', 'paid', 'body', '', '{}', 'key', 'done');
		insert into saga_queue (queue, max_in_flight) values ('test', 1);
		insert into saga_run (id, key, definition, steps, input, status, queue, cause, correlation)
			select id, 'k', 'none/1', '[]', '{}', 'done', 'test', 'request:x', id from (select gen_random_uuid() as id) of;
		insert into saga_attempt (saga_id, token, step) select id, 1, 0 from saga_run;
		insert into webhook_deliveries (id, endpoint, tenant, event_id, event_type, status, created_at, updated_at, version)
			values (gen_random_uuid(), 1, 1, 'e', 'site.created', 'delivered', business_now(), business_now(), 1)`); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { _ = p.Sagas.Runner.Run(ctx) })
	has := func(after time.Duration, want [3]int) {
		t.Helper()
		if err := p.Store.Clock().Advance(ctx, after); err != nil {
			t.Fatal(err)
		}
		for until := time.Now().Add(time.Minute); ; {
			var n [3]int
			if err := owner.QueryRow(ctx, kept).Scan(&n[0], &n[1], &n[2]); err != nil {
				t.Fatal(err)
			}
			if n == want {
				return
			}
			if n[0] < want[0] || n[1] < want[1] || n[2] < want[2] || time.Now().After(until) {
				t.Fatalf("%d bodies, attempts and deliveries are left, not %d", n, want)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	has(3*24*time.Hour-time.Hour, [3]int{1, 1, 1})
	has(2*time.Hour, [3]int{0, 1, 1})
	has(2*24*time.Hour, [3]int{0, 0, 1})
	has(2*24*time.Hour, [3]int{0, 0, 0})
}

// What the real clock ages: sessions, one-time links, idempotency keys.
func TestCredentialsAndKeysAreGoodAsLongAsTheSettingsSay(t *testing.T) {
	t.Parallel()
	url := eventstoretest.URL(t)
	owner := eventstoretest.Owner(t, url)
	vault := credentials.Open(eventstoretest.Pool(t, url), eventstoretest.Keys(t)).
		Keeping(credentials.Times{SessionLife: 2 * time.Hour, SessionIdle: 10 * time.Minute, KeepLinks: 24 * time.Hour})
	aged := func(sql string) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		age  string
		good bool
	}{
		{`update browser_sessions set started_at = real_now() - interval '119 minutes'`, true},
		{`update browser_sessions set started_at = real_now() - interval '121 minutes'`, false},
		{`update browser_sessions set seen_at = real_now() - interval '9 minutes'`, true},
		{`update browser_sessions set seen_at = real_now() - interval '11 minutes'`, false},
	} {
		id, err := vault.OpenSession(t.Context(), 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		aged(c.age)
		if _, good, err := vault.PeekSession(t.Context(), id); err != nil || good != c.good {
			t.Errorf("%s: the session is good: %t, %v", c.age, good, err)
		}
		if err := vault.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := owner.QueryRow(t.Context(),
			`with gone as (delete from browser_sessions returning 1) select count(*) from gone`).Scan(&left); err != nil ||
			(left == 1) != c.good {
			t.Errorf("%s: %d sessions are left, %v", c.age, left, err)
		}
	}
	aged(`insert into one_time_tokens (hash, purpose, user_id, expires_at)
		select sha256(n::text::bytea), 'x', 1, real_now() - n * interval '1 hour' from unnest('{23,25}'::int[]) n`)
	if err := vault.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var links int
	if err := owner.QueryRow(t.Context(), `select count(*) from one_time_tokens`).Scan(&links); err != nil || links != 1 {
		t.Errorf("%d links are left, %v", links, err)
	}
	for keep, want := range map[domain.Keep]time.Duration{
		domain.KeepDay:  3 * 24 * time.Hour,
		domain.KeepWeek: 7 * 24 * time.Hour,
	} {
		s := idempotency.Keeping(3 * 24 * time.Hour)(domain.IdempotencyKey{
			Key: string(keep), Fingerprints: [][]byte{{1}},
			Keep: keep,
		})
		s.Args[5] = []uuid.UUID{}
		var left time.Duration
		if err := owner.QueryRow(t.Context(), s.SQL+` returning expires_at - real_now()`,
			s.Args...).Scan(&left); err != nil || left != want {
			t.Errorf("a key for %s is kept %s, %v", keep, left, err)
		}
	}
}
