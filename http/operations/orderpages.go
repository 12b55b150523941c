package operations

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// Orders as operators see them in a browser (docs/operations.md, "In the browser").
// The pages show what the API answers, in words.

const orderPagePath = web.OrdersPath + "{uuid:uuid}/"

func (s *orders) pageRoutes() []route.Route {
	page := s.orderDesk()
	return []route.Route{
		web.View(web.OrdersPath, "The orders", s.showOrders).As("orders_page").
			Taking(field.Text("search", new(string)).Doc("Words of the number, the customer and the domain.")).
			Taking(field.Text("status", new(string)).Doc("Only orders in this status.")).
			Taking(field.Text("hold", new(string)).Doc("Only orders that a person has to look at for this reason.")).
			Taking(field.Int("page", new(int64)).Doc("Which page of the orders, from 1 on.")),
		web.View(orderPagePath, "An order with all that came of it", page.Look).As("order_page").Of("Order"),
		s.Press(orderPagePath, "Do something with an order", page).As("order_form").Of("Order"),
	}
}

const ordersShown = 25 // on a page

// An orderRow is an order in the list.
type orderRow struct {
	projections.Order
	Path, StatusText string
	Holds            []string // in words
	At               aspect   // when it was placed
}

// A filter is a choice above the list.
type filter struct {
	Name, Label, Value string
	Options            []web.Option
}

func (s *orders) showOrders(ctx context.Context, c route.Call) (*route.Document, error) {
	w, number := web.Texts[web.Readers(c)], pageNumber(c)
	listing, filters := asked(c, w)
	listing.Offset, listing.Limit = (number-1)*ordersShown, ordersShown
	found, err := s.Scope(c).OrdersListed(ctx, listing)
	if err != nil {
		return nil, err
	}
	rows := make([]orderRow, len(found.Rows))
	for i, o := range found.Rows {
		rows[i] = orderRow{o, notice.OrderPage(o.ID), w["order_"+string(o.Status)], holdTexts(w, o.Holds), moment("", &o.CreatedAt, "")}
	}
	newer, older := neighbours(c, number, ordersShown, found.Count)
	return s.Sheet(c, http.StatusOK, "orders", "orders_title", map[string]any{
		"Orders": rows, "Count": found.Count, "Newer": newer, "Older": older, "Filters": filters, "Search": c.Param("search"), "Wide": true,
	})
}

// asked is the part of the list that the query asks for, and the choices that say so.
// A choice that there is not counts as none.
func asked(c route.Call, w web.Words) (l projections.Listing, filters []filter) {
	l.Search = strings.Fields(c.Param("search"))
	for _, f := range []struct {
		name, text string
		values     []string
	}{{"status", "order_", orderStatuses}, {"hold", "hold_", orderHolds}} {
		shown := filter{Name: f.name, Label: w["filter_"+f.name], Options: []web.Option{{Text: w["filter_all"]}}}
		for _, value := range f.values {
			shown.Options = append(shown.Options, web.Option{Value: value, Text: w[f.text+value]})
			if value == c.Param(f.name) {
				shown.Value = value
				l.Filters = append(l.Filters, projections.Filter{Field: f.name, Op: "=", Value: value})
			}
		}
		filters = append(filters, shown)
	}
	return l, filters
}

func holdTexts(w web.Words, holds []order.Hold) []string {
	texts := make([]string, len(holds))
	for i, hold := range holds {
		texts[i] = w["hold_"+string(hold)]
	}
	return texts
}

// A stepRow is a step of the setup on the page of an order.
type stepRow struct {
	Name, Status, StatusText, Error, External, Attempts string
	At                                                  aspect // when it ended, or is tried next
}

// A moved is one line of the history on the page of an order.
type moved struct {
	At         aspect
	Text, Kind string
	Actor      string
}

// showOrder is the page of an order.
func (s *orders) showOrder(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	o, err := s.orderFile(ctx, c, c.UUID("uuid"))
	if err != nil {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	return s.Sheet(c, back.StatusOf(), "order", "order_title", map[string]any{
		"Order": o.Order, "Status": w["order_"+string(o.Status)], "Holds": holdTexts(w, o.Holds), "Message": o.status.StatusMessage,
		"Facts": orderFacts(w, o), "Payment": paymentFacts(w, o), "Steps": stepRows(w, o.Steps), "History": history(o.Timeline),
		"Acts": s.actForms(c, o, back), "Wide": true,
	})
}

// orderFacts are who ordered what.
func orderFacts(w web.Words, o *orderDetail) []aspect {
	facts := []aspect{
		{Name: w["order_customer"], Text: o.CustomerName + " <" + o.CustomerEmail + ">"},
		{Name: w["order_plan"], Text: o.PlanName},
		{Name: w["order_period"], Text: w["period_"+string(o.BillingPeriod)]},
		{Name: w["order_total"], Text: o.Total.StringFixed(2) + " " + o.Currency},
		moment(w["order_placed"], &o.CreatedAt, ""),
		moment(w["order_changed"], &o.UpdatedAt, ""),
	}
	return append(facts, told(aspect{Name: w["order_domain"], Text: o.Domain}, aspect{Name: w["order_company"], Text: o.CustomerCompany},
		aspect{Name: w["order_phone"], Text: o.CustomerPhone}, aspect{Name: w["order_os"], Text: o.OSChoice})...)
}

// paymentFacts are what came in and what went back.
func paymentFacts(w web.Words, o *orderDetail) []aspect {
	facts := told(aspect{Name: w["order_method"], Text: o.PaymentMethod}, aspect{Name: w["order_payment"], Text: o.PaymentID},
		aspect{Name: w["order_payment_status"], Text: string(o.PaymentStatus)})
	for _, r := range o.Refunds {
		facts = append(facts, aspect{Name: w["order_refund"], Text: r.amount.StringFixed(2) + " " + strings.ToUpper(r.Currency) + " · " + string(r.State)})
	}
	for _, d := range o.Disputes {
		facts = append(facts, aspect{Name: w["order_dispute"], Text: d.amount.StringFixed(2) + " " + strings.ToUpper(d.Currency) + " · " + string(d.State)})
	}
	if o.file.Invoice != nil {
		facts = append(facts, aspect{Name: w["order_invoice"], Text: o.file.Invoice.Number})
	}
	return facts
}

// told leaves out what is not known.
func told(all ...aspect) (known []aspect) {
	for _, f := range all {
		if f.Text != "" {
			known = append(known, f)
		}
	}
	return known
}

func stepRows(w web.Words, steps []stepEntry) []stepRow {
	rows := make([]stepRow, len(steps))
	for i, e := range steps {
		rows[i] = stepRow{Name: e.step, Status: e.status, StatusText: w["step_"+e.status], Error: e.lastError, External: e.externalID}
		if e.attempts > 0 {
			rows[i].Attempts = strconv.FormatInt(e.attempts, 10)
		}
		at := e.finishedAt
		if at == nil {
			at = e.nextAt
		}
		rows[i].At = moment("", at, "")
	}
	return rows
}

// history is what has happened, the latest first.
func history(all []happening) []moved {
	rows := make([]moved, len(all))
	for i, h := range all {
		rows[len(all)-1-i] = moved{
			At: aspect{Text: h.at.UTC().Format("2006-01-02 15:04:05 UTC"), At: h.at.UTC().Format(time.RFC3339Nano)}, Text: h.text, Kind: h.sort, Actor: h.actor,
		}
	}
	return rows
}
