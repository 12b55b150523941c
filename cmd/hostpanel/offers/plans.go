// Package offers has the commands for what is sold and who may sell it: plans, and the
// storefront keys of websites (docs/storefront.md).
package offers

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/projections"
)

// Plans is `hostpanel plans`.
type Plans struct {
	List   plansList   `cmd:"" help:"List plans, also those that are not active."`
	Create plansCreate `cmd:"" help:"Offer a plan."`
	Change plansChange `cmd:"" help:"Change fields of a plan."`
}

type plansList struct {
	JSON bool `name:"json" help:"For programs."`
}

// all is how many rows a list of the console has at most.
const all = 1000

// Run lists plans.
func (l plansList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Orders().AllPlans(ctx, projections.Listing{Limit: all})
		if err != nil {
			return err
		}
		return console.List(c, l.JSON, found.Rows, planColumns)
	})
}

var planColumns = field.ColumnsOf[projections.Plan]("id", "name", "slug", "resource_type", "price", "is_active")

const fieldsOfPlans = `Fields are those of the API, such as: name="Web S" price=2.99 resource_type=hosting quota_sites=1. ` +
	`A list is JSON: vps_os_options='["debian-12"]'. docs/storefront.md and /api/schema/ describe them.`

type plansCreate struct {
	Fields []string `arg:"" placeholder:"FIELD=VALUE" help:"At least name, price and resource_type (hosting, vps or saas)."`
}

// Help tells how fields are written.
func (plansCreate) Help() string { return fieldsOfPlans }

// Run offers a plan, by the rules and with the words of the API.
func (cmd plansCreate) Run(ctx context.Context, s config.Settings, c console.Console) error {
	plan := storefront.Plan{}
	sent, err := fieldsFrom(plan.Fields(), cmd.Fields, field.Create)
	if err != nil {
		return err
	}
	return program.With(ctx, s, c, func(p *program.Program) error {
		if !mentions(cmd.Fields, "currency") {
			plan.Currency = cmp.Or(p.Config.Currency, plan.Currency)
		}
		if err := mayBeOffered(ctx, p, &plan, sent, 0); err != nil {
			return err
		}
		id, err := offer(ctx, p, &plan)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "plan %d is on offer\n", id)
		return nil
	})
}

func offer(ctx context.Context, p *program.Program, plan *storefront.Plan) (int64, error) {
	ids, err := p.Store.NextIDs(ctx, "plan")
	if err != nil {
		return 0, err
	}
	return ids[0], plan.PutOnOffer(ids[0], p.Store.Clock().Now(), func(o storefront.OfferPlan) error {
		_, err := p.Store.Execute(ctx, program.AtConsole, o)
		return err
	})
}

type plansChange struct {
	ID     int64    `arg:"" help:"As the list shows it."`
	Fields []string `arg:"" placeholder:"FIELD=VALUE" help:"What changes; is_active=false takes the plan off the shop."`
}

// Help tells how fields are written.
func (plansChange) Help() string { return fieldsOfPlans }

// Run changes a plan. Orders that were placed keep what they agreed on.
func (cmd plansChange) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		plan, err := p.Tables.For(projections.System).Orders().Plan(ctx, cmd.ID)
		if domain.CodeOf(err) == domain.NotFound {
			return fmt.Errorf("there is no plan %d", cmd.ID)
		}
		if err != nil {
			return err
		}
		sent, err := fieldsFrom(plan.Plan.Fields(), cmd.Fields, field.Patch)
		if err != nil {
			return err
		}
		if err := mayBeOffered(ctx, p, &plan.Plan, sent, cmd.ID); err != nil {
			return err
		}
		if _, err := p.Store.Execute(
			ctx, program.AtConsole,
			storefront.ChangePlan{Plan: cmd.ID, Spec: sent.Values(), At: p.Store.Clock().Now()},
		); err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "plan %d is changed\n", cmd.ID)
		return nil
	})
}

// mayBeOffered looks at what the fields alone do not tell.
func mayBeOffered(ctx context.Context, p *program.Program, plan *storefront.Plan, sent field.Set, id int64) error {
	var wrong field.Errors
	if err := p.Tables.For(projections.System).CheckPlan(ctx, plan, id, sent, &wrong); err != nil {
		return err
	}
	return wrong.Err()
}

// fieldsFrom reads FIELD=VALUE as the API reads a request: a value is a text
// unless it is a list or null of JSON. A field that is not there is refused.
func fieldsFrom(set field.Set, pairs []string, mode field.Mode) (field.Set, error) {
	var body strings.Builder
	for i, pair := range pairs {
		name, value, found := strings.Cut(pair, "=")
		if _, known := set.Named(name); !found || !known {
			return nil, console.Misused("%q is not FIELD=VALUE of a field: the fields are %s", pair, strings.Join(names(set), ", "))
		}
		if !strings.HasPrefix(value, "[") && value != "null" {
			value = strconv.Quote(value)
		}
		body.WriteString(map[bool]string{true: "{", false: ","}[i == 0] + strconv.Quote(name) + ":" + value)
	}
	return set.DecodeJSON([]byte(body.String()+"}"), mode)
}

func names(set field.Set) []string {
	return console.Each(set, func(f field.Field) string { return f.Name })
}

func mentions(pairs []string, name string) bool {
	for _, pair := range pairs {
		if strings.HasPrefix(pair, name+"=") {
			return true
		}
	}
	return false
}
