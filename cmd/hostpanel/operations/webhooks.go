package operations

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/operations"
	"hostpanel/domain/wording"
)

// Webhooks is `hostpanel webhooks`: what payment providers have sent.
type Webhooks struct {
	List   webhooksList   `cmd:"" help:"List what payment providers have sent, newest first."`
	Replay webhooksReplay `cmd:"" help:"Act on webhooks again; the provider is asked for the truth."`
}

// A picking is how webhooks are picked.
type picking struct {
	Provider string `placeholder:"NAME" help:"Only from this provider."`
	State    string `placeholder:"STATE" help:"Only these: stored, done, ignored, unmatched, parked."`
	Type     string `placeholder:"TYPE" help:"Only of this type."`
	Order    string `placeholder:"ORDER" help:"Only about this order; number or id."`
	Since    string `placeholder:"TIME" help:"Only received at or after this time (UTC)."`
	Until    string `placeholder:"TIME" help:"Only received before this time (UTC)."`
}

func (k picking) filter(ctx context.Context, p *program.Program) (f operations.WebhookPick, err error) {
	f = operations.WebhookPick{Provider: k.Provider, State: k.State, Type: k.Type}
	if f.From, err = console.ParseTime(k.Since); err != nil {
		return f, err
	}
	if f.To, err = console.ParseTime(k.Until); err != nil || k.Order == "" {
		return f, err
	}
	o, err := p.OrderNamed(ctx, k.Order)
	f.Order = o.ID
	return f, err
}

func (k picking) isEmpty() bool { return k == picking{} }

type webhooksList struct {
	picking
	Limit int  `default:"100" help:"At most so many."`
	JSON  bool `name:"json" help:"For programs."`
}

// Run lists webhooks.
func (l webhooksList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		f, err := l.filter(ctx, p)
		if err != nil {
			return err
		}
		f.Limit = l.Limit
		rows, err := p.Sagas.Payments.LatestWebhooks(ctx, f)
		if err != nil {
			return err
		}
		if l.JSON {
			return c.JSON(console.Each(rows, asWebhook))
		}
		i := c.Ink()
		t := console.Table{Head: []string{"id", "received (UTC)", "provider", "type", "state", "tries", "order", "error"}}
		for _, r := range rows {
			w := asWebhook(r)
			t.Add(console.Number(w.ID), console.Moment(w.ReceivedAt), console.Plain(w.Provider), console.Plain(w.Type), console.Painted(w.State, i.Status), console.Number(w.Attempts),
				console.Plain(short(w.Order)), console.Painted(w.Error, i.Red))
		}
		t.Print(c)
		return nil
	})
}

func short(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

// A webhookLine is a webhook as --json shows it.
type webhookLine struct {
	ID         int64      `json:"id"`
	Provider   string     `json:"provider"`
	EventID    string     `json:"event_id"`
	Type       string     `json:"type"`
	State      string     `json:"state"`
	Order      *uuid.UUID `json:"order"`
	Attempts   int        `json:"attempts"`
	Error      string     `json:"error"`
	ReceivedAt time.Time  `json:"received_at"`
}

func asWebhook(r operations.Webhook) webhookLine {
	return webhookLine{r.ID, r.Provider, r.EventID, r.Type, r.State, r.Order, r.Attempts, r.Error, r.ReceivedAt}
}

type webhooksReplay struct {
	IDs []int64 `arg:"" optional:"" name:"id" help:"As the list shows them; none: all that the filter leaves."`
	picking
	DryRun bool `help:"Only count."`
}

// Run replays webhooks. Without a word about which, it does nothing.
func (r webhooksReplay) Run(ctx context.Context, s config.Settings, c console.Console) error {
	if len(r.IDs) == 0 && r.isEmpty() {
		return console.Misused("say which webhooks: an id or a filter")
	}
	return program.With(ctx, s, c, func(p *program.Program) error {
		f, err := r.filter(ctx, p)
		if err != nil {
			return err
		}
		f.IDs = r.IDs
		if r.DryRun {
			n, err := p.Sagas.Payments.CountWebhooks(ctx, f)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Out, "%s would be replayed\n", wording.Count(n, "webhook"))
			return nil
		}
		n, err := p.Sagas.Payments.ReplayWebhooks(ctx, program.AtConsole, f, "")
		if err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "%s replayed\n", wording.Count(n, "webhook"))
		return nil
	})
}
