//go:build system

package faults_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/faults"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// Customers ask for whatever comes to their minds, the engine loses answers,
// refuses for a while, lies, and is late; workers die and are started anew. In
// the end the engine holds what the log says: all of it, once, and nothing else.
// HOSTPANEL_RANDOM_SEED and HOSTPANEL_RANDOM_OPERATIONS choose what happens.
func TestWhateverIsAskedTheEngineHoldsInTheEndWhatTheLogSays(t *testing.T) {
	t.Parallel()
	seed, operations := sagastest.FromEnvironment("HOSTPANEL_RANDOM_SEED", time.Now().UnixNano()), sagastest.FromEnvironment(
		"HOSTPANEL_RANDOM_OPERATIONS", 500,
	)
	t.Logf("HOSTPANEL_RANDOM_SEED=%d HOSTPANEL_RANDOM_OPERATIONS=%d", seed, operations)
	c := newCustomers(t, seed)
	c.trouble(seed)
	stop := []func(){c.worker(), c.worker()}
	for n := range int(operations) {
		c.operation()
		c.notTooFast()
		if n%(int(operations)/5+1) == 1 { // one of the two goes, and another comes
			stop[n%2]()
			stop[n%2] = c.worker()
		}
	}
	c.Must(c.sandbox.Faults().Clear(t.Context()))
	c.calm.Store(true)
	c.served()
	c.nothingIsOpen()
	c.engineHoldsWhatTheLogSays()
	c.nothingWasMadeTwice()
	c.nothingIsClaimedInVain()
	eventstoretest.Roots(t, c.Store.Reader())
}

// notTooFast lets the workers come after.
func (c *customers) notTooFast() {
	c.Eventually("there is less to do", func() bool {
		return c.Count(
			`select count(*) from saga_run where definition = $1 and status not in ('done', 'undone', 'parked')`,
			"engine/1",
		) < 100
	})
}

// served waits until sites have their first certificates, every request is
// confirmed, and all events are handled. One query checks all of it, because a
// reaction starts further runs in its own transaction. No certificate is due for
// anything else so soon.
func (c *customers) served() {
	c.Eventually("everything is done", func() bool {
		return c.Count(`
			select (select count(*) from saga_run where status not in ('done', 'undone', 'parked')
					and (definition = $1 or steps -> step ->> 'name' in ('certificate.serve', 'certificate.tend')))
				+ (select count(*) from events where position > (select position from readers
					where name = $2))`, "engine/1", sagas.ReactionsReader) == 0
	})
}

// mishaps are what goes wrong, each so often of a thousand calls.
var mishaps = []struct {
	what   faults.What
	calls  []string
	chance int
	delay  time.Duration
}{
	{faults.Slow, []string{""}, 20, 10 * time.Millisecond},
	{faults.TimeoutBefore, []string{""}, 15, 0},
	{faults.ResetBefore, []string{""}, 15, 0},
	{faults.Busy, []string{""}, 20, 0},
	{faults.TimeoutAfter, []string{faults.Create, faults.Change, faults.Remove}, 50, 0},
	{faults.ResetAfter, []string{faults.Create, faults.Change, faults.Remove}, 50, 0},
	{faults.ErrorAfter, []string{faults.Create, faults.Change, faults.Remove}, 30, 0},
	{faults.DeniesDoing, []string{faults.Create, faults.Change, faults.Remove}, 30, 0},
	{faults.Late, []string{faults.Create, faults.Change}, 60, 60 * time.Millisecond},
	{faults.TimeoutLate, []string{faults.Create}, 60, 100 * time.Millisecond},
}

func (c *customers) trouble(seed int64) {
	for i, m := range mishaps {
		for j, call := range m.calls {
			_, err := c.sandbox.Faults().Order(c.T.Context(), faults.Fault{
				What: m.what, Call: call, Delay: m.delay, Times: 1 << 30, Chance: m.chance, Seed: seed + int64(10*i+j),
			})
			c.Must(err)
		}
	}
}

// nothingIsOpen checks that every request was answered, no run is parked, and no
// secret is left for the engine.
func (c *customers) nothingIsOpen() {
	c.Equal("runs that wait for an operator", c.Count(`select count(*) from saga_run where status = 'parked'`), 0)
	c.Equal("resources that are not as wanted", c.Count(`select count(*) from resources where sync_status <> 'synced'`), 0)
	c.Equal("secrets that were not handed over", c.Count(`
		select count(*) from resources where status <> 'gone' and exists (
			select from secret_handoff where effect_key in ('secret/' || (spec ->> 'password'),
				'secret/' || (spec ->> 'db_password')))`), 0)
	c.Equal("passwords in the log", c.Count(`select count(*) from events where data::text like '%pass-word%'`), 0)
}

// engineHoldsWhatTheLogSays compares everything at the engine with the
// resources that there are.
func (c *customers) engineHoldsWhatTheLogSays() {
	for _, kind := range hosting.Kinds {
		if !kind.Works() {
			continue
		}
		held := map[int64]hosting.EngineObject{}
		objects, err := c.sandbox.Objects(c.T.Context(), kind.Name)
		c.Must(err)
		for _, o := range objects {
			held[o.ID] = o
		}
		for _, is := range c.of(kind.Name) {
			if row := c.Resource(is.ref); row.Status != hosting.Gone {
				if row.Kind == "ssl_certificate" && !row.Active && at(row) == 0 { // not looked up while its site is disabled
					maps.DeleteFunc(held, func(_ int64, o hosting.EngineObject) bool { return o.Name == c.nameAtEngine(is, row.Spec) })
					continue
				}
				c.holds(held[at(row)], row, is)
				delete(held, at(row))
			}
		}
		for _, orphan := range held {
			c.T.Errorf("no request led to the engine's %s %d %s", orphan.Kind, orphan.ID, orphan.Name)
		}
	}
}

// at is a resource's id at the engine.
func at(row projections.Resource) int64 {
	if row.EngineID == nil {
		return 0
	}
	return *row.EngineID
}

func (c *customers) holds(o hosting.EngineObject, row projections.Resource, is *thing) {
	kind, _ := hosting.KindNamed(row.Kind)
	parent := field.Values{}
	if is.parent != nil {
		parent = c.Resource(is.parent.ref).Spec
	}
	want := c.inParent(kind, kind.Object(row.ID, row.Spec, parent), is)
	if o.Name != want.Name || o.Ref != want.Ref {
		c.T.Errorf("%s: the engine's is %q %q, not %q %q", is.ref.Stream(), o.Name, o.Ref, want.Name, want.Ref)
		return
	}
	if row.Kind != "tenant" && o.Owner != at(c.Resource(hosting.Ref{Kind: "tenant", ID: row.Tenant})) {
		c.T.Errorf("%s belongs to %d", is.ref.Stream(), o.Owner)
	}
	want.Values["is_active"], _ = json.Marshal(row.Active)
	for name := range is.asked {
		if row.Kind == "ssl_certificate" && name != "cert_type" && name != "domain" {
			continue // the engine is told with the next order
		}
		has := o.Values[name]
		if observed, told := o.Observed[name]; told { // by the engine, which knows better
			has = observed
		}
		if wanted := want.Values[name]; wanted != nil && compact(has) != compact(wanted) {
			c.T.Errorf("%s: %s is %s at the engine, not %s", is.ref.Stream(), name, has, wanted)
		}
	}
	for name, secret := range is.secrets {
		if good, err := c.sandbox.Accepts(c.T.Context(), o.Kind, o.Name, name, secret); err != nil || !good {
			c.T.Errorf("%s: the last %s is not accepted, %v", is.ref.Stream(), name, err)
		}
	}
}

func compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// nothingWasMadeTwice: one creation for each request at most, whatever the
// engine has said to it. What may change its name is counted by kind alone.
func (c *customers) nothingWasMadeTwice() {
	for _, kind := range hosting.Kinds {
		all := c.of(kind.Name)
		if made := c.Count(`select count(*) from sandbox_engine.creations where kind = $1`, kind.Name); made > len(all) {
			c.T.Errorf("%d of %s were made for %d requests", made, kind.Name, len(all))
		}
		requests := map[string]int{}
		for _, one := range all {
			requests[one.born]++
		}
		for name, n := range requests {
			times, err := c.sandbox.Created(c.T.Context(), kind.Name, name)
			if err != nil || times > n && !slices.Contains([]string{"site", "dns_record", "cron_job"}, kind.Name) {
				c.T.Errorf("%s %s was made %d times for %d requests, %v\n%s", kind.Name, name, times, n, err, c.storyOf(kind.Name, name))
			}
		}
	}
}

// storyOf is what the log, the runs, the ledger and the engine know of the resources that
// were asked for under a name.
func (c *customers) storyOf(kind, born string) string {
	var lines []string
	for _, one := range c.of(kind) {
		if one.born != born {
			continue
		}
		about := one.ref.Stream().String()
		for _, told := range []string{
			`select recorded_at, stream || '/' || version || ' ' || name || ' ' || data::text from events
				where stream = $1 or stream in (select 'saga-' || id from saga_run where about = $1)`,
			`select started_at, key || ' step ' || a.step || ' token ' || token ||
					coalesce(' ' || outcome || ' ' || error_class || ' ' || error, '')
				from saga_attempt a join saga_run r on r.id = saga_id where about = $1`,
			`select updated_at, key || ' ' || state || ' token ' || token from effect where key like 'e/' || $1 || '/%'`,
			`select taken_at, 'claim of ' || name from external_claim where owner = $1`,
			`select applied_at, 'object ' || id || ' visible ' || visible_at || ' gone ' || gone_at
				from sandbox_engine.objects where kind = split_part($1, '-', 1) and name = '` + born + `'`,
		} {
			rows, _ := c.Pool.Query(
				c.T.Context(), `select to_char(t, 'HH24:MI:SS.US ') || told from (`+told+`) as x (t, told) order by t`,
				about,
			)
			found, err := pgx.CollectRows(rows, pgx.RowTo[string])
			c.Must(err)
			lines = append(lines, found...)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// nothingIsClaimedInVain: what is at the engine is claimed once, under its
// name, and nothing else is.
func (c *customers) nothingIsClaimedInVain() {
	want := 0
	for _, one := range c.things {
		row := c.Resource(one.ref)
		if row.Status == hosting.Gone || at(row) == 0 || row.Kind == "ssl_certificate" {
			continue
		}
		want++
		claimed := c.Count(
			`select count(*) from external_claim where owner = $1 and kind = $2 and name = $3`,
			one.ref.Stream().String(), row.Kind, c.nameAtEngine(one, row.Spec),
		)
		c.Equal("claims of "+one.ref.Stream().String(), claimed, 1)
	}
	c.Equal("claims", c.Count(`select count(*) from external_claim`), want)
}
