package operations

import (
	"context"
	"fmt"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/field"
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
		return console.List(c, l.JSON, rows, webhookColumns)
	})
}

var webhookColumns = field.ColumnsOf[operations.Webhook]("id", "received_at", "provider", "type", "state", "attempts", "order", "error")

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
