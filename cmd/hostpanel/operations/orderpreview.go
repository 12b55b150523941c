package operations

import (
	"context"
	"fmt"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
)

type ordersPreview struct {
	Plan          string `arg:"" help:"Slug of a plan on offer."`
	BillingPeriod string `enum:"monthly,yearly" default:"monthly" placeholder:"PERIOD" help:"monthly or yearly."`
	Domain        string `help:"The domain to be hosted."`
	OS            string `name:"os" help:"VPS plans only: one of the plan's options."`
	Tenant        int64  `help:"Number of the tenant that the service would join; a new one unless it is given."`
	JSON          bool   `name:"json" help:"For programs."`
}

// An orderPreviewLine is a preview as --json shows it.
type orderPreviewLine struct {
	Plan       string           `json:"plan"`
	Lines      []billed         `json:"lines"`
	Total      string           `json:"total"`
	Currency   string           `json:"currency"`
	Steps      []string         `json:"steps"`
	Conflicts  []order.Conflict `json:"conflicts"`
	Calls      []engineCall     `json:"engine_calls"`
	Unanswered []string         `json:"unanswered"`
}

// Run tells what an order would cost and do.
func (h ordersPreview) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		plan, err := planNamed(ctx, p, h.Plan)
		if err != nil {
			return err
		}
		d := order.Draft{
			PlanID: plan, Period: order.Period(h.BillingPeriod), Domain: h.Domain, OS: h.OS,
			Language: p.Config.Language, Joins: order.Joining{Tenant: h.Tenant},
		}
		if usable := p.Server().Settings.Offers.For(true); len(usable) > 0 {
			d.PaymentMethod, d.TestMoney = usable[0].Name, usable[0].Test
		}
		var wrong field.Errors
		told, calls, err := p.Server().Previews.Preview(ctx, &d, &wrong)
		if err == nil {
			err = wrong.Err()
		}
		if err != nil {
			return err
		}
		line := orderPreviewLine{
			Plan: told.Plan.Name, Total: told.Cost.Total.StringFixed(2), Currency: told.Currency,
			Conflicts: append([]order.Conflict{}, told.Conflicts...), Calls: asCalls(calls), Unanswered: told.Silent,
		}
		for _, one := range told.Lines {
			line.Lines = append(line.Lines, billed{one.Text, one.Total.StringFixed(2)})
		}
		for _, step := range told.Steps {
			line.Steps = append(line.Steps, step.Name)
		}
		if h.JSON {
			return c.JSON(line)
		}
		line.print(c)
		return nil
	})
}

func (l orderPreviewLine) print(c console.Console) {
	fmt.Fprintf(c.Out, "%s: %s %s\n", l.Plan, l.Total, l.Currency)
	for _, one := range l.Lines {
		fmt.Fprintf(c.Out, "  %s: %s %s\n", one.Text, one.Total, l.Currency)
	}
	printCalls(c, l.Calls)
	for _, one := range l.Conflicts {
		fmt.Fprintf(c.Out, "  conflict: %s: %s\n", one.Field, one.Text)
	}
	for _, system := range l.Unanswered {
		fmt.Fprintf(c.Out, "  %s does not answer, so its calls are not known\n", system)
	}
}
