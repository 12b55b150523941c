package hosting_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// A house is a world in which tenant 5 has a client at the engine and the site
// 7, which are as the panel knows them.
func newHouse(t *testing.T, change ...func(*assembly.Options)) *sagastest.World {
	t.Helper()
	w := sagastest.NewWorld(t, change...).Goes()
	spec := &hosting.Tenant{
		Name: "Bread", Email: "office@example.com", Slug: "bread", Username: "t5", CustomerNumber: "t5",
		Language: "es", Status: "active", IsActive: true, Limits: hosting.NoLimits().With("cron_jobs", 10),
	}
	w.Does(hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: 5}, Tenant: 5, Spec: spec.Fields().Values()})
	have(w, hosting.Ref{Kind: "tenant", ID: 5})
	add(w, "site", 7, &hosting.Site{Domain: "bread.example", IPAddress: "*", IsActive: true})
	have(w, hosting.Ref{Kind: "site", ID: 7})
	return w
}

// add asks for a resource of tenant 5.
func add(w *sagastest.World, kind string, id int64, spec hosting.Spec) {
	w.T.Helper()
	w.Does(hosting.Request{Ref: hosting.Ref{Kind: kind, ID: id}, Tenant: 5, Spec: spec.Fields().Values()})
}

// have waits until the engine has made a resource.
func have(w *sagastest.World, ref hosting.Ref) projections.Resource {
	w.T.Helper()
	var row projections.Resource
	w.Eventually(fmt.Sprint("the engine has ", ref), func() bool {
		var err error
		row, err = w.Tables.For(projections.System).Hosting().Resource(w.T.Context(), ref)
		return err == nil && row.SyncStatus == "synced"
	})
	return row
}

// Rows of work follow from what was asked for, like all others.
func TestOperationsStartTheirRuns(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	for _, kind := range hosting.OperationKinds {
		w.Does(
			hosting.QueueOperation{
				ID: uuid.New(), Kind: kind, Tenant: 5, About: hosting.Ref{Kind: "site", ID: 7},
				Install: &hosting.Installation{CMS: "drupal"},
			},
		)
	}
	var keys []string
	rows, err := w.Pool.Query(t.Context(), `select split_part(key, ':', 1) from saga_run order by 1`)
	w.Must(err)
	defer rows.Close()
	for rows.Next() {
		var key string
		w.Must(rows.Scan(&key))
		keys = append(keys, key)
	}
	w.Equal("runs", slices.Sorted(slices.Values(keys)), []string{"install", "sync"})
}
