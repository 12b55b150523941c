// Package sandbox has the commands that make the sandboxes fail, for trials
// (docs/adapters.md, "Faults").
package sandbox

import (
	"context"
	"fmt"
	"time"

	"hostpanel/adapters/faults"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
)

// Command is `hostpanel sandbox`: trouble for trying the panel.
type Command struct {
	List  sandboxList  `cmd:"" help:"List the faults that are still to strike."`
	Set   sandboxSet   `cmd:"" help:"Order a fault."`
	Clear sandboxClear `cmd:"" help:"Take all orders back: all is well again."`
	Clock sandboxClock `cmd:"" help:"Move the clock of a demo forwards, and see what months bring."`
}

// sandboxTargets are the sandboxes that faults are ordered from.
var sandboxTargets = []string{"engine", "compute", "payments"}

type sandboxList struct {
	JSON bool `name:"json" help:"For programs."`
}

type faultLine struct {
	ID     int64  `json:"id"`
	Target string `json:"target"`
	Fault  string `json:"fault"`
	Call   string `json:"call"`
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Delay  string `json:"delay"` // "1.5s"
	Times  int    `json:"times_left"`
	Chance int    `json:"chance"` // of 1000
}

// Run lists the orders, the oldest of each sandbox first: it strikes first.
func (l sandboxList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.WithoutPeople(ctx, s, c, func(p *program.Program) error {
		lines := []faultLine{}
		for _, target := range sandboxTargets {
			found, err := faults.For(p.Pool, target).Open(ctx)
			if err != nil {
				return err
			}
			for _, f := range found {
				lines = append(lines, faultLine{f.ID, target, string(f.What), f.Call, f.Kind, f.Name, f.Delay.String(), f.Times, f.Chance})
			}
		}
		if l.JSON {
			return c.JSON(lines)
		}
		t := console.Table{Head: []string{"number", "sandbox", "fault", "call", "kind", "name", "delay", "times", "of 1000"}}
		for _, f := range lines {
			t.Add(
				console.Number(f.ID), console.Plain(f.Target), console.Plain(f.Fault), console.Plain(f.Call),
				console.Plain(f.Kind), console.Plain(f.Name), console.Plain(f.Delay), console.Number(f.Times),
				console.Number(f.Chance),
			)
		}
		t.Print(c)
		return nil
	})
}

type sandboxSet struct {
	Fault  string        `arg:""`
	Target string        `default:"engine" enum:"engine,compute,payments" help:"Which sandbox: engine, compute or payments."`
	Call   string        `placeholder:"CALL"`
	Kind   string        `placeholder:"KIND" help:"Only objects of this kind: site, mailbox, vm, …"`
	Name   string        `placeholder:"NAME" help:"Only the object of this name."`
	Delay  time.Duration `placeholder:"TIME" help:"How long it lasts, such as 5s."`
	Times  int           `default:"1" help:"How many calls it strikes."`
	Chance int           `default:"1000" help:"Of 1000 matching calls it strikes so many."`
	Seed   int64         `help:"Decides which of them."`
}

// Abouts are the longer texts of its flags and arguments, by name.
func (sandboxSet) Abouts() map[string]string {
	return map[string]string{
		"fault": "What goes wrong: slow, timeout_before, timeout_after, reset_before, reset_after, " +
			"error_before, error_after, busy, refuse, auth, denies_doing, claims_done, late, timeout_late, forget.",
		"call": "Only this call: create, find, change, remove, list. Faults that carry out or lie need one.",
	}
}

// Run orders a fault.
func (o sandboxSet) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.WithoutPeople(ctx, s, c, func(p *program.Program) error {
		id, err := faults.For(p.Pool, o.Target).Order(ctx, faults.Fault{
			What: faults.What(o.Fault), Call: o.Call, Kind: o.Kind, Name: o.Name,
			Delay: o.Delay, Times: o.Times, Chance: o.Chance, Seed: o.Seed,
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "fault %d is ordered\n", id)
		return nil
	})
}

type sandboxClear struct {
	Target string `placeholder:"SANDBOX" enum:"engine,compute,payments," default:"" help:"Only those of this sandbox."`
}

// Run takes orders back.
func (o sandboxClear) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.WithoutPeople(ctx, s, c, func(p *program.Program) error {
		for _, target := range sandboxTargets {
			if o.Target != "" && o.Target != target {
				continue
			}
			if err := faults.For(p.Pool, target).Clear(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
