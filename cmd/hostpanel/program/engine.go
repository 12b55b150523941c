package program

import (
	"context"
	"fmt"
	"time"

	"hostpanel/adapters/engine/ispconfig"
	enginesandbox "hostpanel/adapters/engine/sandbox"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/wording"
	"hostpanel/eventstore/installation"
	"hostpanel/sagas"
)

// issuing is how long the sandbox takes to issue a certificate: long enough to
// be seen waiting.
const issuing, validity = 2 * time.Second, 90 * 24 * time.Hour

// hostingEngine is the one that is configured.
func (p *Program) hostingEngine(self installation.Installation) (hosting.EngineServer, error) {
	if p.Config.ISPConfig == nil || p.past != nil {
		return enginesandbox.New(p.Pool, enginesandbox.Issuing(issuing, validity), enginesandbox.Telling(p.Store.Clock().Now)), nil
	}
	c := *p.Config.ISPConfig
	c.Installation = ispconfig.Installation{ID: self.ID, IsOlder: self.IsOlder, Starts: installation.Starts{DB: p.Pool}}
	c.NameServers, c.Turns, c.Log = p.Config.NameServers, ispconfig.Together(p.turns), p.Log
	engine, err := ispconfig.New(c)
	if err != nil {
		return nil, err
	}
	p.ispconfig = engine
	return engine, nil
}

// turnsAtOnce is how many writes to the engine one process has under way.
const turnsAtOnce = 4

// EngineChanged describes resources that another hosting engine has than that of
// the settings, and what to do. Blank: there are none. Their numbers would name
// strangers' objects here.
func (p *Program) EngineChanged(ctx context.Context) (says, mend string, err error) {
	there, err := p.Sagas.Reconciler.Elsewhere(ctx)
	if err != nil || there.Resources == 0 {
		return "", "", err
	}
	says = fmt.Sprintf(
		"HOSTPANEL_ENGINE is another engine than %q, which has resources of this panel (%s)", there.Server,
		wording.Grouped(there.Resources),
	)
	mend = fmt.Sprintf("set HOSTPANEL_ENGINE=%[1]s again; the panel moves nothing between engines, so terminate and "+
		"purge all tenants there first, "+
		`or start with an empty database ("Another engine" in docs/engines.md)`, there.Server)
	return says, mend, nil
}

// engineKnown looks at the engine before anything is asked of it. One that is
// away may come back; one that is not what the settings say never will be, nor one
// that others have taken the place of.
func (p *Program) engineKnown(ctx context.Context) error {
	says, mend, err := p.EngineChanged(ctx)
	switch {
	case err != nil:
		return err
	case says != "":
		return console.Misused("%s: %s", says, mend)
	case p.ispconfig == nil, p.Sagas.Runner.KeepRecovery(ctx) != nil:
		return nil
	}
	err = p.ispconfig.Hold(ctx)
	switch {
	case err == nil:
		return nil
	case sagas.CodeOf(err) == ispconfig.Held:
		return console.Misused("%w: %s", err, EngineHeld)
	case ctx.Err() != nil:
		return ctx.Err()
	case domain.ClassOf(err) == domain.Permanent, domain.LackOf(err) != "":
		return console.Misused("ISPCONFIG_URL, _USERNAME, _PASSWORD, _SERVER_ID: %w", err)
	}
	p.Log.Warn("the hosting engine does not answer; what is asked of it waits", "error", err)
	return nil
}

// EngineHeld is the way out where another installation works at the engine.
const EngineHeld = "give this panel an engine of its own, or end the other one for good and run " +
	`"hostpanel engine claim" ("One panel for each engine" in docs/engine-ispconfig.md)`

// ClaimEngine takes the engine for this installation. Before is the one that had it; "": none.
func (p *Program) ClaimEngine(ctx context.Context) (before, now string, err error) {
	if p.ispconfig == nil {
		return "", "", console.Misused("HOSTPANEL_ENGINE is the sandbox, which is this panel's own")
	}
	if err := p.Sagas.Runner.KeepRecovery(ctx); err != nil {
		return "", "", err
	}
	self, err := installation.Read(ctx, p.Pool)
	if err != nil {
		return "", "", err
	}
	if before, err = p.ispconfig.Holder(ctx); err != nil {
		return "", "", err
	}
	return before, self.ID, p.ispconfig.Claim(ctx)
}

// CheckEngine asks the hosting engine whether it lets us in, is what the settings
// say, and grants every function that is needed. The sandbox does.
func (p *Program) CheckEngine(ctx context.Context) error {
	if p.ispconfig == nil {
		return nil
	}
	if err := p.ispconfig.Check(ctx); err != nil {
		return err
	}
	return p.ispconfig.Permissions(ctx)
}

// leaveEngine ends our session with the engine.
func (p *Program) leaveEngine() {
	if p.ispconfig == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := p.ispconfig.Close(ctx); err != nil {
		p.Log.Warn("the session with the hosting engine was not ended", "error", err)
	}
}
