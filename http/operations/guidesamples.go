package operations

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"

	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/http/route"
	"hostpanel/http/samplecode"
	"hostpanel/http/web"
)

// key is that of the reader, or a placeholder.
func (a *guided) key() string { return cmp.Or(a.Key, noKey) }

func (a *guided) widget() string {
	if a.Widget == nil {
		return noWidget
	}
	return a.Widget.WidgetID
}

// container is the element of the order form.
func (a *guided) container() string {
	language := ""
	if a.Language != "" {
		language = fmt.Sprintf(" data-lang=%q", a.Language)
	}
	return fmt.Sprintf("<div data-widget-id=%q%s></div>\n", a.widget(), language)
}

// snippet is what a website adds to its page.
func (a *guided) snippet(panel string) string {
	return a.container() + fmt.Sprintf("<script src=%q data-api-key=%q async></script>\n", panel+web.WidgetPath, a.key())
}

// pinned is the same with one version of the script, for ever.
func (a *guided) pinned(panel string) string {
	return a.container() + fmt.Sprintf(
		"<script src=%q integrity=%q\n  crossorigin=\"anonymous\" data-api-key=%q async></script>\n",
		panel+web.Widget.Path(), web.Widget.Integrity(), a.key())
}

// A guideCall is a call of the API with its samples.
type guideCall struct {
	Name, Title string
	Samples     []samplecode.Sample
}

// calls are what programs do that have an order form of their own.
func (g *guide) calls(c route.Call, a *guided) []guideCall {
	w, api := web.Texts[web.Readers(c)], g.publicURL()+"/storefront/api/"
	key := samplecode.Header{Name: "X-API-Key", Value: a.key()}
	read := func(path string) []samplecode.Sample {
		return samplecode.Of(samplecode.Call{Method: "GET", URL: api + path, Headers: []samplecode.Header{key}})
	}
	return []guideCall{
		{"plans", w["guide_call_plans"], read("plans/")},
		{"widget", w["guide_call_widget"], read("widget/" + a.widget() + "/")},
		{"order", w["guide_call_order"], g.orderSamples(a, api+"orders/", key)},
	}
}

// orderSamples place an order. Each has a key of its own: the same program run twice
// places one order.
func (g *guide) orderSamples(a *guided, address string, key samplecode.Header) (all []samplecode.Sample) {
	body, number := g.sampleOrder(a), rand.Text()[:8]
	for _, l := range samplecode.Languages {
		once := samplecode.Header{Name: "Idempotency-Key", Value: "order-" + number + "-" + l.Name}
		call := samplecode.Call{Method: "POST", URL: address, Headers: []samplecode.Header{key, once}, Body: body}
		all = append(all, samplecode.Sample{Name: l.Name, Title: l.Title, Code: l.Write(call)})
	}
	return all
}

// sampleOrder is an order of the first plan, with the fields that the form asks for.
func (g *guide) sampleOrder(a *guided) []byte {
	sent := struct {
		Plan    int64  `json:"plan_id"`
		Email   string `json:"customer_email"`
		Name    string `json:"customer_name"`
		Phone   string `json:"customer_phone,omitempty"`
		Company string `json:"customer_company,omitempty"`
		Method  string `json:"payment_method"`
		Period  string `json:"billing_period"`
		Widget  string `json:"widget_id,omitempty"`
	}{Plan: 1, Email: "ana@example.com", Name: "Ana Ruiz", Method: g.sampleMethod(a), Period: string(order.Monthly)}
	if a.Widget != nil {
		sent.Widget = a.Widget.WidgetID
		if len(a.Widget.Offered) > 0 {
			sent.Plan = a.Widget.Offered[0].ID
		}
		if a.Widget.RequirePhone {
			sent.Phone = "+34 600 000 000"
		}
		if a.Widget.RequireCompany {
			sent.Company = "Ruiz S.L."
		}
	}
	body, _ := json.Marshal(sent) // texts and numbers have a form in JSON
	return body
}

// sampleMethod is a payment method that works with the key: with a test key the one
// without money, if there is one.
func (g *guide) sampleMethod(a *guided) string {
	mode := g.keys.usualMode()
	if key, isKey := storefront.ParseKey(a.Key); isKey {
		mode = key.Mode
	}
	isTest := mode == storefront.Test
	offers := g.offers.For(isTest)
	if len(offers) == 0 {
		return cmp.Or(g.paymentMethods...) // none can be chosen yet
	}
	return offers[max(0, slices.IndexFunc(offers, func(o order.Offer) bool { return o.Test == isTest }))].Name
}
