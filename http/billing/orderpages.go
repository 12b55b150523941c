package billing

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// orderService is the form by which an administrator orders a service into the tenant.
const orderService = "order_service"

// pages are what was ordered for a tenant, and the plans on offer with the form that
// orders one.
func (s *orders) pages() []route.Route {
	page := web.FormPage{Forms: map[string]web.FormHandler{orderService: s.orderByForm}, Show: s.showOrders}
	return []route.Route{
		web.View(web.TenantOrdersPath, "The tenant's orders, and what can be ordered", page.Look).As("tenant_orders_page"),
		s.web.Press(web.TenantOrdersPath, "Order a service into the tenant", page).As("tenant_orders_form").For(
			caller.AdminSession(s.callers),
		),
	}
}

// list is what was ordered for a tenant.
func (s *orders) list() web.List[tenantOrder] {
	return web.List[tenantOrder]{
		Web: s.web, Name: "tenant_orders", Fields: (*tenantOrder).Fields, Before: hasTenant, Wide: true,
		Read: func(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[tenantOrder], error) {
			found, err := s.listOrders(ctx, c, l)
			for i := range found.Rows { // the API says it in the language of the order
				found.Rows[i].message = found.Rows[i].said(web.Readers(c))
			}
			return found, err
		},
		Cards: web.Cards{
			Title: "plan_name", Badges: []string{"status"}, Lines: []string{"total+order_number"},
			Note: []string{"status_message+created_at"},
		},
		More: func(c route.Call, o *tenantOrder, card *web.Card) {
			if o.payAt != nil {
				card.Note = append(card.Note, web.Aspect{Text: web.Texts[web.Readers(c)]["tenant_orders_pay"], Path: *o.payAt})
			}
		},
	}
}

func (s *orders) showOrders(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	data, err := web.ListData(ctx, c, s.list())
	if err != nil {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	plans, err := s.callers.System().Orders().Plans(ctx, "")
	if err != nil {
		return nil, err
	}
	soldOut, err := s.orders.SoldOut(ctx, plans...)
	if err != nil {
		return nil, err
	}
	offers := make([]web.Card, len(plans))
	for i, p := range plans {
		p.Plan = p.In(web.Readers(c))
		plans[i], offers[i] = p, web.Card{
			Title: p.Name, Value: w.Money(p.Price, p.Currency), Lines: slices.DeleteFunc([]string{p.Description}, isBlank),
		}
		if soldOut[p.ID] {
			offers[i].Badges = []web.Badge{{Class: "failed", Text: w["tenant_orders_sold_out"]}}
		}
		if !p.SetupFee.IsZero() {
			offers[i].Note = []web.Aspect{{Name: w["tenant_orders_setup"], Text: w.Money(p.SetupFee, p.Currency)}}
		}
	}
	ways := s.offers.For(testMoneyAlone(s.offers))
	plans = slices.DeleteFunc(plans, func(p projections.Plan) bool { return soldOut[p.ID] })
	data["Offers"], data["Order"] = offers, s.orderFormOf(c, plans, ways, back)
	d, err := s.web.Sheet(c, back.StatusOf(), "tenantorders", "tenant_orders_title", data)
	if err == nil {
		d.FormAction = web.PaymentOrigins(ways, s.publicURL())
	}
	return d, err
}

func isBlank(text string) bool { return text == "" }

// orderFormOf is the form of the administrators of a tenant; nil: the reader is none, or
// there is nothing to order.
func (s *orders) orderFormOf(c route.Call, plans []projections.Plan, ways order.Offers, back *web.Returned) *web.Form {
	who := caller.Of(c)
	if !who.Administers() || who.Tenant() == 0 || len(plans) == 0 || len(ways) == 0 {
		return nil
	}
	w := web.Texts[web.Readers(c)]
	plan, method := web.Input{Name: "plan_id", Type: "select", Required: true}, web.Input{
		Name: "payment_method", Type: "select", Required: true,
	}
	for _, p := range plans {
		plan.Options = append(
			plan.Options,
			web.Option{Value: strconv.FormatInt(p.ID, 10), Text: p.Name + " · " + w.Money(p.Price, p.Currency)},
		)
	}
	for _, o := range ways {
		method.Options = append(method.Options, web.Option{Value: o.Name, Text: methodName(s.offers, web.Readers(c), o.Name)})
	}
	period := web.Input{Name: "billing_period", Type: "select", Required: true, Options: []web.Option{
		{Value: string(order.Monthly), Text: w["period_monthly"]}, {Value: string(order.Yearly), Text: w["period_yearly"]},
	}}
	f := s.web.Fill(c, web.Form{Name: orderService, Action: c.Path, Inputs: []web.Input{
		plan, period, {Name: "domain", Plain: true}, {Name: "os_choice", Plain: true}, method, web.NumberInput(),
	}}, back)
	return &f
}

// orderByForm places the order and sends the reader to pay. Sent again, it leads to the
// same page.
func (s *orders) orderByForm(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	f := &orderForm{methods: s.offers.Names()}
	if err := web.DecodeForm(f, sent); err != nil {
		return nil, err
	}
	if err := s.barClosed(ctx, c); err != nil {
		return nil, err
	}
	var id uuid.UUID
	isRepeat, location, err := caller.FormOnce(ctx, s.callers, c, sent, func(c route.Call) error {
		var wrong field.Errors
		if err := s.checkOrder(ctx, c, f, &wrong); err != nil {
			return err
		}
		if err := wrong.Err(); err != nil {
			return err
		}
		var err error
		id, err = s.place(ctx, c, f)
		return err
	})
	if err != nil {
		return nil, err
	}
	if isRepeat {
		if id, err = orderAt(location); err != nil {
			return web.SeeOther(web.TenantOrdersPath), nil //nolint:nilerr // the list shows it
		}
	}
	placed, err := s.orders.ToPayment(ctx, id)
	page, err := record.ToPay(ctx, s.callers.Log(), placed, err, s.unavailable)
	if err != nil {
		return nil, err
	}
	return web.SeeOther(page.PaymentURL), nil
}
