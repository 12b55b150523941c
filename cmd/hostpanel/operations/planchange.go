package operations

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

type subscriptionsChange struct {
	Order         string `arg:"" help:"Number or id of the order that started it."`
	Plan          string `required:"" help:"Slug of a plan on offer."`
	BillingPeriod string `enum:"monthly,yearly," default:"" placeholder:"PERIOD"`
	Preview       bool   `help:"Only tell what the change would cost and do."`
	JSON          bool   `name:"json" help:"For programs."`
}

// Abouts are the longer texts of its flags and arguments, by name.
func (subscriptionsChange) Abouts() map[string]string {
	return map[string]string{
		"billing-period": "monthly or yearly; the present one unless it is given.",
	}
}

// A previewLine is a preview as --json shows it.
type previewLine struct {
	Plan          string            `json:"plan"`
	BillingPeriod string            `json:"billing_period"`
	Now           bool              `json:"now"`
	StartsAt      time.Time         `json:"starts_at"`
	PayUntil      *time.Time        `json:"pay_until"`
	Lines         []billed          `json:"lines"`
	Total         string            `json:"total"`
	Currency      string            `json:"currency"`
	Exceeded      []billing.Overrun `json:"exceeded"`
	Calls         []engineCall      `json:"engine_calls"`
	Answers       bool              `json:"engine_answers"`
	sizesMachine  bool
}

type (
	billed struct {
		Text  string `json:"text"`
		Total string `json:"total"`
	}
	engineCall struct {
		Call    string            `json:"call"`
		Record  string            `json:"record"`
		Changes map[string]string `json:"change"`
	}
)

func asPreview(p billing.ChangePreview, calls []hosting.EngineCall) previewLine {
	line := previewLine{
		Plan: p.To.PlanName, BillingPeriod: p.To.BillingPeriod, Now: p.Now, StartsAt: p.StartsAt, PayUntil: p.PayUntil,
		Total: p.Invoice.Total.StringFixed(2), Currency: p.Currency, Exceeded: p.Over, Answers: !p.Silent,
		sizesMachine: p.To.SizesMachine(),
	}
	for _, l := range p.Invoice.Lines {
		line.Lines = append(line.Lines, billed{l.Text, l.Total.StringFixed(2)})
	}
	line.Calls = asCalls(calls)
	return line
}

func asCalls(calls []hosting.EngineCall) (lines []engineCall) {
	for _, c := range calls {
		call := engineCall{c.Call, c.Record, map[string]string{}}
		for _, change := range c.Changes {
			call.Changes[change.Field] = change.From + " → " + change.To
		}
		lines = append(lines, call)
	}
	return lines
}

func printCalls(c console.Console, calls []engineCall) {
	for _, call := range calls {
		var changes []string
		for _, field := range slices.Sorted(maps.Keys(call.Changes)) {
			changes = append(changes, field+" "+call.Changes[field])
		}
		fmt.Fprintf(c.Out, "  %s of %s: %s\n", call.Call, call.Record, strings.Join(changes, ", "))
	}
}

// Run tells what the change costs and does, and carries it out unless only that is wanted.
func (h subscriptionsChange) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		o, err := p.OrderNamed(ctx, h.Order)
		if err != nil {
			return err
		}
		sub, err := p.Tables.For(projections.System).Billing().Subscription(ctx, o.ID)
		if err != nil {
			return err
		}
		plan, err := planNamed(ctx, p, h.Plan)
		if err != nil {
			return err
		}
		cycle := h.BillingPeriod
		if cycle == "" {
			cycle = sub.BillingPeriod
		}
		preview, calls, err := p.Sagas.Billing.PreviewChange(ctx, o.ID, plan, cycle)
		if err != nil {
			return fmt.Errorf("subscription of %s: %w", o.OrderNumber, err)
		}
		line := asPreview(preview, calls)
		if h.JSON {
			err = c.JSON(line)
		} else {
			line.print(c)
		}
		if h.Preview || err != nil {
			return err
		}
		return h.carryOut(ctx, p, c, o.ID, o.OrderNumber, plan, cycle)
	})
}

func (h subscriptionsChange) carryOut(
	ctx context.Context, p *program.Program, c console.Console, order uuid.UUID, number string, plan int64,
	cycle string,
) error {
	if err := p.Sagas.Billing.ChangePlan(ctx, sagas.ByOperator(program.AtConsole, order), order, plan, cycle); err != nil {
		return fmt.Errorf("subscription of %s: %w", number, err)
	}
	if !h.JSON {
		fmt.Fprintf(c.Out, "the change of the subscription of %s is noted\n", number)
	}
	return nil
}

// planNamed is the number of the plan with the slug.
func planNamed(ctx context.Context, p *program.Program, slug string) (int64, error) {
	found, err := p.Tables.For(projections.System).Orders().AllPlans(ctx, projections.Listing{Limit: 1, Filters: only("slug", slug)})
	if err != nil {
		return 0, err
	}
	if len(found.Rows) == 0 {
		return 0, fmt.Errorf("there is no plan %s", slug)
	}
	return found.Rows[0].ID, nil
}

func (l previewLine) print(c console.Console) {
	const minute = "2006-01-02 15:04 UTC"
	fmt.Fprintf(c.Out, "%s, %s: from %s on\n", l.Plan, l.BillingPeriod, l.StartsAt.UTC().Format(minute))
	for _, one := range l.Lines {
		fmt.Fprintf(c.Out, "  %s: %s %s\n", one.Text, one.Total, l.Currency)
	}
	if l.PayUntil != nil {
		fmt.Fprintf(c.Out, "  to be paid until %s: %s %s\n", l.PayUntil.UTC().Format(minute), l.Total, l.Currency)
	}
	if len(l.Exceeded) > 0 {
		fmt.Fprintf(c.Out, "  too much is used: %s\n", billing.Overruns(l.Exceeded))
	}
	printCalls(c, l.Calls)
	if l.sizesMachine {
		fmt.Fprintln(c.Out, "  more memory and cores count with the next start of the virtual server, a larger disk at once")
	}
	if !l.Answers {
		fmt.Fprintln(c.Out, "  the hosting engine does not answer, so its calls are not known")
	}
}
