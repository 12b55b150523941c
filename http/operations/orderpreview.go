package operations

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/domain/texts"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// Previews tell what an order would cost and do (docs/orders.md, "Preview").
type Previews interface {
	// Preview completes an order and adds to wrong what is wrong with it. Nothing is written.
	Preview(ctx context.Context, d *order.Draft, wrong *field.Errors) (order.Preview, []hosting.EngineCall, error)
}

const orderPreviewPath = ordersPath + "preview/"

func (s *orders) previewRoute() route.Route {
	return route.Post(orderPreviewPath, "What a new order would cost and do, without placing it", s.previewOrder).
		As("operator_order_preview").With(http.StatusOK).Caching("no-store").Asking(func() field.Record {
		return &orderWish{methods: s.paymentMethods}
	}).
		Saying(
			"The calls are those that the setup would make now. Conflicts are what would stop it after the customer " +
				"has paid. Nothing is written, and no number is drawn.",
		)
}

// An orderWish is an order that may be placed.
type orderWish struct {
	order.Draft
	tenant  *int64
	methods []string
}

// Fields are the request.
func (f *orderWish) Fields() field.Set {
	return slices.Concat(field.Set{
		field.Ref("plan_id", &f.PlanID).Required().Doc("A plan on offer."),
		field.Text("billing_period", (*string)(&f.Period)).Among(string(order.Monthly), string(order.Yearly)).
			Default(string(order.Monthly)),
		field.Text("payment_method", &f.PaymentMethod).Among(f.methods...).Doc("The first one that customers can choose, when absent."),
		field.Text("domain", &f.Domain).Is(field.Domain).Default("").Doc("The domain to be hosted."),
		field.Text("os_choice", &f.OS).Max(64).Default("").Doc("VPS plans only: one of the plan's options; its default when absent."),
		field.NullInt("tenant", &f.tenant).Doc("The tenant that the service would join; null: a new one is made."),
		field.Text("customer_name", &f.Customer.Name).Max(200).Is(field.Plain).Default(""),
		field.Text("customer_company", &f.Customer.Company).Max(200).Is(field.Plain).Default(""),
	}, buyer.Fields(&f.Customer.Details), field.Set{
		field.Text("language", &f.Language).Spoken().Doc("Of the invoice's lines; that of the caller when absent."),
	})
}

func (s *orders) previewOrder(ctx context.Context, c route.Call, f *orderWish) (*orderPreview, error) {
	var wrong field.Errors
	if f.tenant != nil {
		f.Joins.Tenant = *f.tenant
		if _, err := s.callers.Scope(c).Hosting().Tenant(ctx, *f.tenant); record.IsMissing(err) {
			wrong.Add("tenant", field.NoSuchPK(*f.tenant))
		} else if err != nil {
			return nil, err
		}
	}
	if usable := s.offers.For(true); f.PaymentMethod == "" && len(usable) > 0 {
		f.PaymentMethod = usable[0].Name
	}
	offer, _ := s.offers.Configured(f.PaymentMethod)
	f.TestMoney = offer.Test
	told, calls, err := s.previews.Preview(ctx, &f.Draft, &wrong)
	if err == nil {
		err = wrong.Err()
	}
	if err != nil {
		return nil, err
	}
	return newOrderPreview(told, calls), nil
}

// An orderPreview is the answer.
type orderPreview struct {
	order.Preview
	lines     []previewLine
	steps     []previewStep
	conflicts []conflict
	calls     []record.EngineCall
}

func newOrderPreview(told order.Preview, calls []hosting.EngineCall) *orderPreview {
	p := &orderPreview{Preview: told, calls: record.EngineCalls(calls)}
	for _, l := range told.Lines {
		p.lines = append(p.lines, previewLine{l})
	}
	for _, step := range told.Steps {
		p.steps = append(p.steps, previewStep{step})
	}
	for _, one := range told.Conflicts {
		p.conflicts = append(p.conflicts, conflict{one})
	}
	return p
}

// Fields are the preview.
func (p *orderPreview) Fields() field.Set {
	return field.Set{
		field.Int("plan_id", &p.Plan.ID).ReadOnly(),
		field.Text("plan_name", &p.Plan.Name).ReadOnly(),
		field.Text("resource_type", &p.Plan.ResourceType).Among("hosting", "vps", "saas").ReadOnly(),
		field.Text("billing_period", (*string)(&p.Period)).Among("monthly", "yearly").ReadOnly(),
		field.Text("payment_method", &p.Method.Name).ReadOnly(),
		field.Text("domain", &p.Domain).ReadOnly(),
		field.Text("os_choice", &p.OS).ReadOnly(),
		field.Amount("price", &p.Cost.Period, 16, 4).ReadOnly().Doc("Of one period, tax included."),
		field.Amount("tax_rate", &p.TaxRate, 5, 2).ReadOnly().Doc("Percent."),
		field.Objects("lines", &p.lines).Doc("Of the first invoice."),
		field.Amount("subtotal", &p.Cost.Subtotal, 14, 2).ReadOnly(),
		field.Amount("tax", &p.Cost.Tax, 14, 2).ReadOnly(),
		field.Amount("total", &p.Cost.Total, 14, 2).ReadOnly(),
		field.Text("currency", &p.Currency).ReadOnly(),
		field.Objects("steps", &p.steps).Doc("Of the setup, in their order."),
		field.Objects("engine_calls", &p.calls).Doc(
			"What would be made at the hosting engine and at the hypervisor, in their words. Names are those of the next numbers.",
		),
		field.Objects("conflicts", &p.conflicts).Doc("For which the setup would stop, or make less than is paid for."),
		field.Texts("unanswered", &p.Silent, nil).ReadOnly().Doc(
			"Systems outside that do not answer now, so their calls and conflicts are not known.",
		),
	}
}

// A previewLine is a line of the first invoice.
type previewLine struct{ order.PreviewLine }

// Fields are the line.
func (l *previewLine) Fields() field.Set {
	return field.Set{field.Text("text", &l.Text).ReadOnly(), field.Amount("total", &l.Total, 14, 2).ReadOnly()}
}

// A previewStep is a step of the setup.
type previewStep struct{ order.Step }

// Fields are the step.
func (s *previewStep) Fields() field.Set {
	return field.Set{field.Text("name", &s.Name).ReadOnly(), field.Text("description", &s.Says).ReadOnly()}
}

// A conflict is a reason for which the setup would stop.
type conflict struct{ order.Conflict }

// Fields are the conflict.
func (c *conflict) Fields() field.Set {
	return field.Set{
		field.Text("field", &c.Field).ReadOnly().Doc("Of the order, such as domain."),
		field.Text("code", &c.Code).Among(order.ConflictCodes...).ReadOnly(),
		field.Text("message", &c.Text).ReadOnly(),
	}
}

func (s *orders) showPreview(ctx context.Context, c route.Call) (*route.Document, error) {
	w, language := web.Texts[web.Readers(c)], web.Readers(c)
	data := map[string]any{"Action": c.Path, "Wide": true, "Domain": c.Param("domain"), "Tenant": c.Param("tenant")}
	var err error
	if data["Choices"], err = s.previewChoices(ctx, c, w); err != nil {
		return nil, err
	}
	if c.Param("plan_id") == "" {
		return s.web.Sheet(c, http.StatusOK, "order_preview", "preview_title", data)
	}
	sent := url.Values{"language": {language}}
	for _, name := range []string{"plan_id", "billing_period", "domain", "tenant"} {
		if value := strings.TrimSpace(c.Param(name)); value != "" {
			sent.Set(name, value)
		}
	}
	wish := &orderWish{methods: s.paymentMethods}
	err = web.DecodeForm(wish, sent)
	var told *orderPreview
	if err == nil {
		told, err = s.previewOrder(ctx, c, wish)
	}
	if wrong := field.ErrorsOf(err); len(wrong) > 0 {
		data["Problems"] = previewProblems(w, language, wrong)
		return s.web.Sheet(c, http.StatusOK, "order_preview", "preview_title", data)
	}
	if err != nil {
		return nil, err
	}
	addPreview(w, language, told, data)
	return s.web.Sheet(c, http.StatusOK, "order_preview", "preview_title", data)
}

// previewChoices are the plans on offer, and the billing periods.
func (s *orders) previewChoices(ctx context.Context, c route.Call, w web.Words) ([]web.Filter, error) {
	offered, err := s.callers.Scope(c).Orders().Plans(ctx, "")
	plans := web.Filter{Name: "plan_id", Label: w["change_plan"], Value: c.Param("plan_id")}
	for _, p := range offered {
		plans.Options = append(
			plans.Options,
			web.Option{
				Value: strconv.FormatInt(p.ID, 10),
				Text:  p.Name + " · " + w.Money(p.EffectivePrice(), p.Currency) + " " + w["period_monthly"],
			},
		)
	}
	periods := web.Filter{Name: "billing_period", Label: w["change_period"], Value: c.Param("billing_period")}
	for _, cycle := range []order.Period{order.Monthly, order.Yearly} {
		periods.Options = append(periods.Options, web.Option{Value: string(cycle), Text: w["period_"+string(cycle)]})
	}
	return []web.Filter{plans, periods}, err
}

func previewProblems(w web.Words, language string, wrong field.Errors) (rows []web.Aspect) {
	for _, one := range wrong {
		for _, message := range one.Messages {
			rows = append(rows, web.Aspect{Name: cmp.Or(w["preview_"+one.Field], one.Field), Text: web.Translated(language, message)})
		}
	}
	return rows
}

func addPreview(w web.Words, language string, p *orderPreview, data map[string]any) {
	lines := make([]web.Aspect, len(p.Lines))
	for i, l := range p.Lines {
		lines[i] = web.Aspect{Name: l.Text, Text: w.Money(l.Total, p.Currency)}
	}
	data["Lines"] = append(lines, web.Aspect{
		Name: w["invoice_tax"] + " (" + texts.Percent(language, p.TaxRate) + ")",
		Text: w.Money(p.Cost.Tax, p.Currency),
	},
		web.Aspect{Name: w["invoice_total"], Text: w.Money(p.Cost.Total, p.Currency)})
	var conflicts []string
	for _, one := range p.Conflicts {
		conflicts = append(conflicts, w["conflict_"+one.Code])
	}
	steps := make([]string, len(p.Steps))
	for i, step := range p.Steps {
		steps[i] = wordOf(w, "part_", step.Name)
	}
	data["Told"], data["Conflicts"], data["Steps"], data["Calls"], data["Silent"] = true, conflicts, steps, p.calls, p.Silent
}
