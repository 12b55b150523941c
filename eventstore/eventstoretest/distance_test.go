package eventstoretest

import (
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The delay is that of a way, not of a gate: questions that are on it at the same time do
// not wait for each other.
func TestADistanceDelaysEachQuestionByItself(t *testing.T) {
	t.Parallel()
	const delay, many = 200 * time.Millisecond, 20
	c, end, err := cutterBefore(URL(t), "", delay)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	conns := make([]*pgx.Conn, many)
	for i := range conns {
		if conns[i], err = pgx.Connect(t.Context(), c.URL()); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close(t.Context()) //nolint:errcheck // nothing was left open
	}
	took := func(do func()) time.Duration {
		began := time.Now()
		do()
		return time.Since(began)
	}
	at := took(func() {
		var all sync.WaitGroup
		for _, conn := range conns {
			all.Go(func() {
				if _, err := conn.Exec(t.Context(), "select"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	if at < delay || at > many*delay/2 {
		t.Errorf("%d connections asked at once, and waited for %s", many, at)
	}
	pipelined := took(func() {
		p := conns[0].PgConn().StartPipeline(t.Context())
		for range many {
			p.SendQueryParams("select", nil, nil, nil, nil)
			if err := p.Sync(); err != nil {
				t.Error(err)
			}
		}
		for left := many; left > 0; {
			result, err := p.GetResults()
			if err != nil {
				t.Fatal(err)
			}
			switch r := result.(type) {
			case *pgconn.ResultReader:
				_, _ = r.Close()
			case *pgconn.PipelineSync:
				left--
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	if pipelined < delay || pipelined > many*delay/2 {
		t.Errorf("%d questions were sent at once, and waited for %s", many, pipelined)
	}
}
