//go:build system

package faults_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/adapters/conformance"
	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// Each kind is created at an ISPConfig whose answer is lost after one of the calls
// of the creation, whose server dies after one of its inserts, and which forgets what
// it has confirmed. In the end everything is there, whole and once, and no run is
// open. HOSTPANEL_FAULT_SEED chooses the moments, HOSTPANEL_FAULT_CUTS how many of
// each; without a number of cuts, it is one.
func TestWhateverAnEngineLosesEverythingIsThereOnce(t *testing.T) {
	t.Parallel()
	seed, most := sagastest.FromEnvironment("HOSTPANEL_FAULT_SEED", time.Now().UnixNano()), int(
		sagastest.FromEnvironment("HOSTPANEL_FAULT_CUTS", 1),
	)
	t.Logf("HOSTPANEL_FAULT_SEED=%d HOSTPANEL_FAULT_CUTS=%d", seed, most)
	c := newCutting(t, seed)
	for _, kind := range cutKinds {
		calls, steps := c.undisturbed(kind.name)
		for _, n := range c.some(calls, most) {
			c.answerIsLost(kind.name, n)
		}
		for _, n := range c.some(steps, most) {
			c.serverDies(kind.name, n)
		}
		c.isForgotten(kind.name, kind.table)
	}
	c.everythingIsThereOnce()
}

// cutKinds are the kinds that ISPConfig has, in the order in which they need each
// other, with the tables of their rows.
var cutKinds = []struct{ name, table string }{
	{"tenant", "client"},
	{"site", "web_domain"},
	{"database", "web_database"},
	{"dns_zone", "dns_soa"},
	{"dns_record", "dns_rr"},
	{"mail_domain", "mail_domain"},
	{"mailbox", "mail_user"},
	{"mail_alias", "mail_forwarding"},
	{"ftp_account", "ftp_user"},
	{"shell_user", "shell_user"},
	{"cron_job", "cron"},
}

// cutting is a panel at an ISPConfig behind a proxy, with one customer, who asks for
// one thing at a time.
type cutting struct {
	*customers
	fake   *ispconfigtest.Engine
	proxy  *conformance.Proxy
	calls  atomic.Int64 // that the proxy has passed on
	base   map[string]*thing
	lost   int // answers
	died   int // servers
	forgot int // objects
}

func newCutting(t *testing.T, seed int64) *cutting {
	t.Helper()
	c := &cutting{fake: ispconfigtest.Start(t), base: map[string]*thing{}}
	var err error
	c.proxy, err = conformance.NewProxy(t.Context(), c.fake.URL, func(r *http.Request) string {
		call := ispconfig.CallOf(r)
		if call != "" {
			c.calls.Add(1)
		}
		return call
	})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := ispconfig.New(ispconfig.Config{
		Name: "one", URL: c.proxy.URL, User: ispconfigtest.User, Password: ispconfigtest.Password,
		Servers:     ispconfig.Servers{Web: 1, Database: 1, DNS: 1, Mail: 1},
		NameServers: []string{"ns1.example.test.", "ns2.example.test."}, Now: c.fake.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Engine = engine })
	c.customers = &customers{Household: &sagastest.Household{World: w}, chance: rand.New(rand.NewPCG(uint64(seed), 3))}
	w.Goes()
	for _, kind := range cutKinds {
		c.base[kind.name] = c.making(kind.name)
		c.made(c.base[kind.name])
	}
	return c
}

// making asks for one more of a kind.
func (c *cutting) making(kind string) *thing {
	one := &thing{ref: hosting.Ref{Kind: kind, ID: c.Draw(kind)}, secrets: map[string]string{}}
	one.name = fmt.Sprintf("%s%d", strings.ReplaceAll(kind, "_", ""), one.ref.ID)
	c.things = append(c.things, one)
	if kind == "tenant" {
		one.tenant = one.ref.ID
		c.Carry(c.NewTenant(one.ref.ID))
		return one
	}
	one.tenant, one.parent = c.base["tenant"].ref.ID, c.base[wholes[kind]]
	one.asked = specs[kind](c.customers, one)
	c.Carrying(c.withSecrets(one, one.asked), hosting.Request{Ref: one.ref, Tenant: one.tenant, Spec: one.asked, Subject: uuid.New()})
	return one
}

// made waits until a thing is as it was asked for; the engine's server carries its
// jobs out meanwhile.
func (c *cutting) made(one *thing) {
	c.T.Helper()
	c.Eventually(one.ref.Stream().String()+" is made", func() bool {
		c.fake.Tick()
		if c.Count(`select count(*) from saga_attempt where error_class = 'wait' and error like '%may still be making%'`) > 0 {
			c.fake.Pass(time.Minute) // until what died at the engine cannot be at work any more
		}
		return c.Resource(one.ref).SyncStatus == "synced" && c.Count(
			`select count(*) from saga_run where status not in ('done', 'undone')`,
		) == 0
	})
}

// undisturbed makes one of a kind, and tells how many calls and jobs that took.
func (c *cutting) undisturbed(kind string) (calls, steps int) {
	before, jobs := c.calls.Load(), c.fake.Jobs()
	c.made(c.making(kind))
	return int(c.calls.Load() - before), 2 * (c.fake.Jobs() - jobs)
}

// some are so many numbers up to n, or all of them.
func (c *cutting) some(n, most int) (chosen []int) {
	for _, i := range c.chance.Perm(n)[:min(n, most)] {
		chosen = append(chosen, i+1)
	}
	return chosen
}

func (c *cutting) answerIsLost(kind string, n int) {
	cut := c.proxy.Cut(n)
	c.made(c.making(kind))
	if cut() {
		c.lost++
	}
}

// serverDies lets the engine's server die within a call, and start again.
func (c *cutting) serverDies(kind string, n int) {
	mend := c.fake.Cut(n)
	one := c.making(kind)
	c.Eventually("the server dies, or there is nothing left to die over", func() bool {
		c.fake.Tick()
		return c.fake.Dead() || c.Resource(one.ref).SyncStatus == "synced"
	})
	if mend() {
		c.died++
	}
	c.made(one)
}

// isForgotten lets the engine lose what it has just confirmed, before its server has
// carried it out.
func (c *cutting) isForgotten(kind, table string) {
	one := c.making(kind)
	var id int64
	c.Eventually("the engine has confirmed "+one.ref.Stream().String(), func() bool {
		id = c.numberOf(one)
		return id != 0
	})
	if !c.fake.Forget(table, id) {
		c.T.Fatalf("the engine has no %s %d: %+v", table, id, c.Resource(one.ref))
	}
	c.forgot++
	run := sagas.StreamOf("engine:" + hosting.GenerationOf(one.ref.Stream(), 1).String())
	c.Eventually("the loss of "+one.ref.Stream().String()+" is noticed", func() bool { return c.Often(run, "saga.effect_lost") > 0 })
	if len(one.secrets) > 0 {
		c.sendsAgain(one)
	}
	c.made(one)
}

// sendsAgain is a customer who reads that the password is no longer at hand.
func (c *cutting) sendsAgain(one *thing) {
	c.Eventually("the password of "+one.ref.Stream().String()+" is asked for", func() bool {
		c.fake.Tick()
		return c.Resource(one.ref).SyncError == "secret_needed"
	})
	spec := field.Values{}
	for name := range one.secrets {
		spec[name] = one.asked[name]
	}
	c.Carrying(c.withSecrets(one, spec), hosting.Change{Ref: one.ref, Spec: spec})
}

// numberOf is the engine's number of a thing, as soon as the panel knows it.
func (c *cutting) numberOf(one *thing) (id int64) {
	c.Must(c.Pool.QueryRow(c.T.Context(), `
		select coalesce(max(e.external_id::bigint), 0) from effect e join saga_run r on r.id = e.saga_id
		where r.about = $1 and e.state = 'confirmed'`, one.ref.Stream().String()).Scan(&id))
	return id
}

// everythingIsThereOnce compares the engine with the log.
func (c *cutting) everythingIsThereOnce() {
	c.T.Logf("%d answers were lost, %d times the server died, %d objects were forgotten", c.lost, c.died, c.forgot)
	if c.lost < len(cutKinds)/2 || c.died < len(cutKinds)/2 || c.forgot < len(cutKinds) {
		c.T.Error("this is no trial")
	}
	for _, torn := range c.fake.Torn() {
		c.T.Errorf("at the engine: %s", torn)
	}
	c.Equal("runs that wait for an operator", c.Count(`select count(*) from saga_run where status = 'parked'`), 0)
	c.Equal("runs that are open", c.Count(`select count(*) from saga_run where status not in ('done', 'undone')`), 0)
	for _, one := range c.things {
		row := c.Resource(one.ref)
		c.Equal(one.ref.Stream().String(), row.SyncStatus, "synced")
	}
	for _, kind := range cutKinds {
		rows := c.fake.Count(kind.table)
		if kind.name == "dns_record" { // and those of the name servers
			rows -= len(c.fake.Rows(kind.table, "type", "NS"))
		}
		c.Equal("rows of "+kind.table, rows, len(c.of(kind.name)))
	}
	eventstoretest.Roots(c.T, c.Store.Reader())
}
