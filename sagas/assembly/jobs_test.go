package assembly_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

// A house is a world in which tenant 5 has a client at the engine and the site
// 7, which are as the panel knows them.
func newHouse(t *testing.T, change ...func(*assembly.Options)) *world {
	t.Helper()
	w := newWorld(t, change...).goes()
	spec := &hosting.Tenant{Name: "Bread", Email: "office@example.com", Slug: "bread", Username: "t5", CustomerNumber: "t5", Language: "es", Status: "active", IsActive: true, Limits: hosting.NoLimits().With("cron_jobs", 10)}
	w.do(hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: 5}, Tenant: 5, Spec: spec.Fields().Values()})
	w.have(hosting.Ref{Kind: "tenant", ID: 5})
	w.add("site", 7, &hosting.Site{Domain: "bread.example", IPAddress: "*", IsActive: true})
	w.have(hosting.Ref{Kind: "site", ID: 7})
	return w
}

func (w *world) do(commands ...domain.Command) {
	w.t.Helper()
	_, err := w.store.Execute(w.t.Context(), domain.Metadata{Actor: "test"}, commands...)
	w.must(err)
}

// add asks for a resource of tenant 5.
func (w *world) add(kind string, id int64, spec hosting.Spec) {
	w.t.Helper()
	w.do(hosting.Request{Ref: hosting.Ref{Kind: kind, ID: id}, Tenant: 5, Spec: spec.Fields().Values()})
}

// have waits until the engine has made a resource.
func (w *world) have(ref hosting.Ref) projections.Resource {
	w.t.Helper()
	var row projections.Resource
	w.eventually(fmt.Sprint("the engine has ", ref), func() bool {
		var err error
		row, err = w.tables.For(projections.System).Resource(w.t.Context(), ref)
		return err == nil && row.SyncStatus == "synced"
	})
	return row
}

func (w *world) over(id uuid.UUID) projections.Operation {
	w.t.Helper()
	var o projections.Operation
	w.eventually(fmt.Sprintf("operation %s is over", id), func() bool {
		var err error
		o, err = w.tables.For(projections.System).Operation(w.t.Context(), id)
		w.must(err)
		return o.IsOver()
	})
	return o
}

// Rows of work follow from what was asked for, like all others.
func TestOperationsStartTheirRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range hosting.OperationKinds {
		w.do(hosting.QueueOperation{ID: uuid.New(), Kind: kind, Tenant: 5, About: hosting.Ref{Kind: "site", ID: 7}, Install: &hosting.Installation{CMS: "drupal"}})
	}
	var keys []string
	rows, err := w.pool.Query(t.Context(), `select split_part(key, ':', 1) from saga_run order by 1`)
	w.must(err)
	defer rows.Close()
	for rows.Next() {
		var key string
		w.must(rows.Scan(&key))
		keys = append(keys, key)
	}
	w.equal("runs", slices.Sorted(slices.Values(keys)), []string{"install", "sync"})
}
