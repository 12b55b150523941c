//go:build system

package faults_test

import (
	"context"
	"encoding/json"
	"fmt"

	enginesandbox "hostpanel/adapters/engine/sandbox"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/tests/processtest"
)

// everythingAtOnce asks for a site with all that may go with it.
const everythingAtOnce = `{"domain":"own%d.example","ip_address":"192.0.2.7","create_dns":true,"create_mail":true,` +
	`"create_ftp":true,"create_db":true,"create_proxy":true}`

// administrator asks for sites with everything in the demo's tenant, each with
// one request that is repeated until it is answered.
func (c *campaign) administrator() {
	for n := range c.own {
		c.insist(func(base string) (processtest.Answer, error) {
			return c.asAdministrator(base, "POST", "/hosting/api/rest/sites/provision_full/", fmt.Sprintf(everythingAtOnce, n),
				"Content-Type", processtest.AsJSON, "Idempotency-Key", fmt.Sprintf("own-%d", n))
		}, 201)
	}
	for _, kind := range hosting.Kinds {
		if kind.Collection != "" && kind.EngineID != "" {
			c.awaitSynced("/hosting/api/rest/" + kind.Collection + "/?page_size=100")
		}
	}
}

// awaitSynced waits until the engine has what a list shows.
func (c *campaign) awaitSynced(path string) {
	var last string
	processtest.Within(c.t, "the engine has all of "+path, recovery, func() bool {
		c.mu.Lock()
		base := c.run.Base
		c.mu.Unlock()
		a, err := c.asAdministrator(base, "GET", path, "")
		var page struct {
			Results []struct {
				SyncStatus string `json:"sync_status"`
			}
		}
		if err != nil || a.Status != 200 || json.Unmarshal([]byte(a.Body), &page) != nil {
			return false
		}
		last = a.Body
		for _, one := range page.Results {
			if one.SyncStatus != "synced" {
				return false
			}
		}
		return true
	})
	if c.t.Failed() {
		c.t.Log(last)
	}
}

// engineHasEachOnce compares what the log says with what the engine really
// has, and counts how often it has made each.
func (c *campaign) engineHasEachOnce(ctx context.Context, p *program.Program) {
	engine := enginesandbox.New(p.Pool)
	// what it loses is missed after it was accepted
	processtest.Within(c.t, "all runs at the engine are over", recovery, func() (over bool) {
		must(c.t, p.Pool.QueryRow(ctx, `select not exists (select from saga_run where definition = 'engine/1' and status `+
			`not in ('done', 'undone'))`).Scan(&over))
		return over
	})
	for _, kind := range hosting.Kinds {
		if !kind.Works() || kind.Issued {
			continue
		}
		var listed projections.Listed[projections.Resource]
		// also those that no list of the API shows
		processtest.Within(c.t, "no "+kind.Name+" is pending", recovery, func() (none bool) {
			all, err := p.Tables.For(projections.System).Hosting().OfKind(ctx, kind, projections.Listing{Limit: 10_000})
			if err != nil {
				c.t.Fatal(err)
			}
			listed, none = all, true
			for _, row := range all.Rows {
				none = none && row.SyncStatus != "pending"
			}
			return none
		})
		objects, err := engine.Objects(ctx, kind.Name)
		if err != nil {
			c.t.Fatal(err)
		}
		is := map[int64]bool{}
		for _, o := range objects {
			is[o.ID] = true
			lost := c.forgotten(ctx, p, kind.Name, o.Name)
			if n, err := engine.Created(ctx, kind.Name, o.Name); err != nil || n != 1+lost {
				c.t.Errorf("the engine has made %s %s %d times and lost it %d times, %v", kind.Name, o.Name, n, lost, err)
			}
		}
		for _, row := range listed.Rows {
			if row.EngineID == nil || !is[*row.EngineID] {
				c.t.Errorf("%s %d is not on the engine: %s %s", kind.Name, row.ID, row.SyncStatus, row.SyncError)
			}
		}
		if want := len(c.paid) + c.own; kind.Name == "site" && len(objects) != want {
			c.t.Errorf("the engine has %d sites instead of %d", len(objects), want)
		}
		if len(objects) != len(listed.Rows) {
			c.t.Errorf("the engine has %d of kind %s, the log %d", len(objects), kind.Name, len(listed.Rows))
		}
	}
}
