//go:build system

package faults_test

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	enginesandbox "hostpanel/adapters/engine/sandbox"
	"hostpanel/adapters/faults"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/hosting"
	"hostpanel/tests/processtest"
)

// A blow is a kind of fault that the campaign deals at a random moment.
type blow struct {
	name string
	deal func(*campaign)
}

// blows are dealt in random order, each of them before any comes again. The key
// takes three steps to be replaced, and a restart after each.
var blows = []blow{
	{"the program is killed", (*campaign).crash},
	{"the program is killed, and killed again while it starts", (*campaign).crashTwice},
	{"Postgres is killed", (*campaign).killPostgres},
	{"the secret key is replaced, a step", (*campaign).rotate},
	{"the secret key is replaced, a step", (*campaign).rotate},
	{"the secret key is replaced, a step", (*campaign).rotate},
}

// fail deals the next blow at a random moment.
func (c *campaign) fail() {
	c.sleep(400)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.deck) == 0 {
		c.deck = slices.Clone(blows)
		c.chance.Shuffle(len(c.deck), func(i, j int) { c.deck[i], c.deck[j] = c.deck[j], c.deck[i] })
	}
	next := c.deck[0]
	c.deck = c.deck[1:]
	c.dealt[next.name]++
	next.deal(c)
}

// crash kills the program and starts it anew on the same data.
func (c *campaign) crash() {
	c.kill(c.run)
	c.run = c.home.Start()
}

func (c *campaign) crashTwice() {
	c.kill(c.run)
	early := c.home.Launch("serve", "--demo", "--listen", "127.0.0.1:0")
	c.sleep(600)
	c.kill(early)
	c.run = c.home.Start()
}

// killPostgres kills the database's server under the program, which restarts it.
// Now and then the program is killed before it has.
func (c *campaign) killPostgres() {
	back := c.endPostgres()
	if c.chance.IntN(3) == 0 {
		c.sleep(600)
		c.crash()
	}
	must(c.t, back())
}

// rotate does the next step of a replacement of the secret key, if it is possible
// yet, and kills the program, so that all read the new list of keys.
func (c *campaign) rotate() {
	c.nextKeyStep()
	c.crash()
}

// nextKeyStep tells whether there was one: the old key cannot be removed before the
// janitor has sealed anew what it sealed.
func (c *campaign) nextKeyStep() bool {
	said, complaint := c.replaceKey()
	if complaint == "" {
		c.steps++
		c.t.Log(strings.TrimSpace(said))
	} else if !strings.Contains(complaint, "try again in some minutes") {
		c.t.Errorf("the key could not be replaced: %s", complaint)
	}
	return complaint == ""
}

// endRotation goes on until no replacement of the key is half done.
func (c *campaign) endRotation() {
	for c.steps == 0 || c.steps%3 != 0 {
		processtest.Within(c.t, "the next step of replacing the key is possible", recovery, c.nextKeyStep)
		c.mu.Lock()
		c.crash()
		c.mu.Unlock()
	}
}

// everyBlowWasDealt fails a campaign that lacks a kind of fault.
func (c *campaign) everyBlowWasDealt() {
	for _, b := range blows {
		if c.dealt[b.name] == 0 {
			c.t.Errorf("in this campaign it never happened that %s", b.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.dealt)) {
		c.t.Logf("%3d times: %s", c.dealt[name], name)
	}
}

// cuts lose the answer of a creation that was carried out.
var cuts = []faults.What{faults.ResetAfter, faults.TimeoutAfter, faults.ErrorAfter}

// ofACampaign are the kinds that orders and administrators make in a campaign.
var ofACampaign = []string{
	"tenant", "site", "dns_zone", "dns_record", "mail_domain", "ftp_account", "database",
	"proxy",
}

// engineMisbehaves lets the engine lose the answer of the first creation of each
// kind, and the object of the second. One whose password only its user knows has to
// be asked for again, so it is not lost here.
func (c *campaign) engineMisbehaves() {
	c.looking(func(ctx context.Context, p *program.Program) {
		engine := enginesandbox.New(p.Pool)
		for _, name := range ofACampaign {
			kind, _ := hosting.KindNamed(name)
			ordered := []faults.Fault{{What: cuts[c.chance.IntN(len(cuts))], Call: faults.Create, Kind: kind.Name}}
			if len(kind.Secrets()) == 0 {
				ordered = append(ordered, faults.Fault{What: faults.Forget, Call: faults.Create, Kind: kind.Name})
			}
			for _, f := range ordered {
				if _, err := engine.Faults().Order(ctx, f); err != nil {
					c.t.Fatal(err)
				}
			}
		}
	})
}

// engineHasMisbehaved fails a campaign in which the engine was not asked for enough.
func (c *campaign) engineHasMisbehaved(ctx context.Context, p *program.Program) {
	open, err := enginesandbox.New(p.Pool).Faults().Open(ctx)
	must(c.t, err)
	for _, f := range open {
		c.t.Errorf("in this campaign it never happened: %s of a %s", f.What, f.Kind)
	}
}

// forgotten is how many objects of a name the engine has lost.
func (c *campaign) forgotten(ctx context.Context, p *program.Program, kind, name string) (n int) {
	must(c.t, p.Pool.QueryRow(ctx, `select count(*) from sandbox_engine.objects where kind = $1 and name = $2 and `+
		`gone_at <= real_now()`, kind, name).Scan(&n))
	return n
}

// asAdministrator makes a call with the tokens of the demo's administrator, who signs
// in anew when the key of the last token was removed.
func (c *campaign) asAdministrator(base, method, path, body string, headers ...string) (processtest.Answer, error) {
	c.signing.Lock()
	defer c.signing.Unlock()
	a, err := processtest.Call(c.t.Context(), method, base+path, body,
		append(headers, "Authorization", "Bearer "+c.token)...)
	if err != nil || a.Status != 401 {
		return a, err
	}
	login := processtest.PasswordLogin(c.demo.TenantAdmin.Username, c.demo.TenantAdmin.Password)
	in, err := processtest.Call(c.t.Context(), "POST", base+"/api/token/", login, "Content-Type", processtest.AsJSON)
	if err == nil && in.Status == 200 {
		c.token = in.Field(c.t, "access")
	}
	return a, err
}

// nothingIsStuck finds runs that wait for an operator, and alarms that are open.
func (c *campaign) nothingIsStuck(ctx context.Context, p *program.Program) {
	rows, err := p.Pool.Query(ctx, `select key || ' at step ' || step from saga_run where status = 'parked'`)
	must(c.t, err)
	stuck, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(c.t, err)
	for _, run := range stuck {
		c.t.Errorf("waits for an operator: %s", run)
	}
}
