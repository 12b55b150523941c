package sandbox_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/conformance"
	"hostpanel/adapters/engine/enginetest"
	"hostpanel/adapters/engine/sandbox"
	"hostpanel/adapters/faults"
)

func TestTheSandboxIsAHostingEngine(t *testing.T) { enginetest.Run(t, engineOf(pool(t))) }

func engineOf(p *pgxpool.Pool) func(t *testing.T) enginetest.Engine {
	return func(t *testing.T) enginetest.Engine {
		emptied(t, p)
		e := sandbox.New(p)
		return enginetest.Engine{EngineServer: e, Address: "192.0.2.7", Books: func() string { return books(t, p) }, Lose: func(
			_ conformance.T, call, kind string,
		) {
			order(t, e, faults.Fault{What: faults.TimeoutAfter, Call: call, Kind: kind})
		}, Die: func(kind string, steps int) func() bool {
			if steps == 1 { // each of its creations is one transaction
				order(t, e, faults.Fault{What: faults.TimeoutAfter, Call: "create", Kind: kind})
			}
			return func() bool { return steps == 1 }
		}}
	}
}

// emptied lets tests share a database.
func emptied(t *testing.T, p *pgxpool.Pool) {
	t.Helper()
	for _, table := range []string{"sandbox_engine.objects", "sandbox_engine.creations", "sandbox_faults.ordered"} {
		if _, err := p.Exec(t.Context(), `delete from `+table); err != nil {
			t.Fatal(err)
		}
	}
}

func books(t *testing.T, p *pgxpool.Pool) (all string) {
	t.Helper()
	if err := p.QueryRow(t.Context(), `select string_agg(o::text, ' ') from sandbox_engine.objects o`).Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}
