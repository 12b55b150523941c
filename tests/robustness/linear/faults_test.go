package linear

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/postgres"
	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
)

// A field is a database of a story's own, on a durable server that can be killed, with a
// cutter before each of its processes. The cutters cut what has the mark in it.
type field struct {
	t       *testing.T
	cluster *postgres.Cluster
	url     string
	cutters []*eventstoretest.Cutter
	crashes int // that are still to come
	did     map[string]int
}

func newField(t *testing.T, processes int, mark string) *field {
	t.Helper()
	f := &field{t: t, cluster: eventstoretest.Private(t, nil), crashes: 1, did: map[string]int{}}
	f.url = f.cluster.URL()
	owner := eventstoretest.Owner(t, f.url)
	must(t, eventstore.Migrate(t.Context(), owner, eventstore.Migration{Area: "sagas", Files: sagas.Migrations}))
	owner.Close()
	for range processes {
		f.cutters = append(f.cutters, eventstoretest.NewCutter(t, f.url, mark))
	}
	return f
}

// stores are the logs of all processes, each behind its cutter.
func (f *field) stores(c domain.Catalogue) (stores []*eventstore.Store) {
	f.t.Helper()
	for _, cutter := range f.cutters {
		pool := eventstoretest.Pool(f.t, cutter.URL())
		stores = append(stores, eventstore.Open(pool, c, eventstoretest.Keys(f.t), eventstoretest.Caused()))
	}
	return stores
}

// quiet is the log behind no cutter, for what is asked after all faults.
func (f *field) quiet(c domain.Catalogue) *eventstore.Store {
	f.t.Helper()
	return eventstore.Open(eventstoretest.Pool(f.t, f.url), c, eventstoretest.Keys(f.t), eventstoretest.Caused())
}

// during does the work while faults go on.
func (f *field) during(random *rand.Rand, work func()) {
	f.t.Helper()
	var over atomic.Bool
	var faults sync.WaitGroup
	faults.Go(func() {
		for !over.Load() {
			f.fault(random)
			time.Sleep(time.Duration(20+random.IntN(80)) * time.Millisecond) // any moment will do
		}
	})
	work()
	over.Store(true)
	faults.Wait()
	f.t.Logf("faults: %v", f.did)
}

func (f *field) fault(random *rand.Rand) {
	cutter := f.cutters[random.IntN(len(f.cutters))]
	switch n := random.IntN(12); {
	case n < 4:
		f.did["question cut"]++
		cutter.CutQuestion()
	case n < 8:
		f.did["answer cut"]++
		cutter.CutAnswer()
	case n == 8:
		f.did["process cut off"]++
		cutter.Cut()
	case n < 11:
		f.did["backend terminated"]++
		f.terminate(random)
	case f.crashes > 0:
		f.crashes--
		f.did["Postgres killed"]++
		eventstoretest.Restart(f.t, f.cluster)
	}
}

// terminate ends some of the server's processes.
func (f *field) terminate(random *rand.Rand) {
	ctx, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, f.url)
	if err != nil {
		f.t.Errorf("terminate backends: %v", err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, `
		select pg_terminate_backend(pid) from (
			select pid from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'
				order by random() limit $1) chosen`, 1+random.IntN(4))
	if err != nil {
		f.t.Errorf("terminate backends: %v", err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
