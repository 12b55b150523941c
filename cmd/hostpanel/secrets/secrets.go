// Package secrets has the commands on the secret keys of the installation
// (docs/security.md, "Replacing the key").
package secrets

import (
	"context"
	"fmt"
	"strconv"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/secrets/rotation"
	"hostpanel/eventstore"
)

// Command is `hostpanel secrets`.
type Command struct {
	Check  check  `cmd:"" help:"Tell which secret keys there are, what each seals, and what comes next."`
	Rotate rotate `cmd:"" help:"Do the next step of replacing the key in secret.key."`
	Forget forget `cmd:"" help:"Give up what was sealed with a key that is lost for good."`
}

type check struct {
	JSON bool `name:"json" help:"For programs."`
}

// Run lists the keys. The command fails if one is missing.
func (l check) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.WithKeys(ctx, s, c, func(p *program.Program) error {
		keys, err := eventstore.SecretKeys(ctx, p.Pool, p.Keys)
		if err != nil {
			return err
		}
		if l.JSON {
			err = c.JSON(console.Each(keys, asLine))
		} else {
			table(c, keys)
		}
		for _, k := range keys {
			if k.Place == 0 && k.Needed() && err == nil {
				return console.ErrReported
			}
		}
		return err
	})
}

// A keyLine is a key as --json shows it.
type keyLine struct {
	ID      string `json:"id"`
	Place   int    `json:"place"`
	People  int64  `json:"people"`
	Hooks   int64  `json:"webhook_endpoints"`
	Factors int64  `json:"second_factors"`
	Logs    int64  `json:"transparency_logs"`
	Transit int64  `json:"in_transit"`
	State   string `json:"state"`
}

func asLine(k eventstore.SecretKey) keyLine {
	return keyLine{k.ID, k.Place, k.People, k.Webhooks, k.Factors, k.Logs, k.Transit, rotation.State(k)}
}

func table(c console.Console, keys []eventstore.SecretKey) {
	t := console.Table{
		Head: []string{"key", "place", "people", "webhook endpoints", "second factors", "transparency logs", "in transit", "state"},
	}
	for _, k := range keys {
		place := "-"
		if k.Place > 0 {
			place = strconv.Itoa(k.Place)
		}
		t.Add(
			console.Plain(k.ID), console.Plain(place), console.Number(k.People), console.Number(k.Webhooks),
			console.Number(k.Factors), console.Number(k.Logs), console.Number(k.Transit), console.Plain(rotation.State(k)),
		)
	}
	t.Print(c)
	fmt.Fprintln(c.Out, "\n"+rotation.Advice(keys))
}

type forget struct {
	ID  string `arg:"" help:"Of the key, as \"hostpanel secrets check\" shows it."`
	Yes bool   `help:"Do not ask."`
}

// Run gives a key up. What it sealed reads as erased.
func (f forget) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.WithKeys(ctx, s, c, func(p *program.Program) error {
		keys, err := eventstore.SecretKeys(ctx, p.Pool, p.Keys)
		if err != nil {
			return err
		}
		if err := mayForget(keys, f.ID); err != nil {
			return err
		}
		if !f.Yes {
			if err := c.Confirm(ctx, f.ID); err != nil {
				return err
			}
		}
		gone, err := eventstore.ForgetSecretKey(ctx, p.Pool, f.ID)
		if err == nil {
			fmt.Fprintf(c.Out, "%s is forgotten: the texts under %d keys of people read as erased, %d secrets of "+
				"webhook endpoints and %d second factors are gone\n",
				f.ID, gone.People, gone.Webhooks, gone.Factors)
			if gone.Logs > 0 {
				fmt.Fprintln(
					c.Out,
					"The transparency log goes on as a new origin with a new key. The old tree stays, and proofs of it stay good.",
				)
			}
		}
		return err
	})
}

func mayForget(keys []eventstore.SecretKey, id string) error {
	for _, k := range keys {
		switch {
		case k.ID != id:
		case k.Place > 0:
			return console.Misused("the key %s is not lost: this process has it", id)
		default:
			return nil
		}
	}
	return console.Misused("the database does not know a key %q", id)
}
