package paypaltest

import "time"

type object map[string]any

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// shown is an order as the API shows it.
func (p *PayPal) shown(o *Order) any {
	unit := object{
		"reference_id": o.Unit, "custom_id": o.Reference, "invoice_id": o.Number, "amount": o.Amount,
		"payee": object{"email_address": "shop@example.com", "merchant_id": o.Payee},
	}
	if len(o.Captures) > 0 {
		var captures, refunds []any
		for _, c := range o.Captures {
			captures = append(captures, p.shownCapture(o, c))
		}
		for _, r := range o.Refunds {
			refunds = append(refunds, p.shownRefund(o, r))
		}
		all := object{"captures": captures}
		if refunds != nil {
			all["refunds"] = refunds
		}
		unit["payments"] = all
	}
	shown := object{
		"id": o.ID, "intent": "CAPTURE", "status": o.Status, "purchase_units": []any{unit},
		"create_time": stamp(o.Created), "links": p.links(o),
	}
	if o.Status == "APPROVED" || o.Status == "COMPLETED" {
		shown["update_time"] = stamp(o.Updated)
		shown["payer"] = object{"email_address": "customer-canary@example.com", "name": object{"given_name": "Ada", "surname": "Canary"}}
		shown["payment_source"] = object{"paypal": p.shownWallet(o)}
	}
	return shown
}

func (p *PayPal) links(o *Order) []any {
	self := p.URL + "/v2/checkout/orders/" + o.ID
	links := []any{object{"href": self, "rel": "self", "method": "GET"}}
	if o.Status == "CREATED" {
		links = append(links, object{"href": p.URL + "/checkoutnow?token=" + o.ID, "rel": "approve", "method": "GET"})
	}
	if o.Status == "PAYER_ACTION_REQUIRED" {
		links = append(links, object{"href": p.URL + "/checkoutnow?token=" + o.ID, "rel": "payer-action", "method": "GET"})
	}
	return links
}

func (p *PayPal) shownCapture(o *Order, c Capture) object {
	return object{
		"id": c.ID, "status": c.Status, "amount": c.Amount, "final_capture": true, "custom_id": o.Reference, "invoice_id": o.Number,
		"create_time": stamp(c.Created), "update_time": stamp(c.Created),
		"supplementary_data": object{"related_ids": object{"order_id": o.ID}},
		"links":              []any{object{"href": p.URL + "/v2/checkout/orders/" + o.ID, "rel": "up", "method": "GET"}},
	}
}

func (p *PayPal) shownRefund(o *Order, r Refund) object {
	return object{
		"id": r.ID, "status": r.Status, "amount": r.Amount, "custom_id": r.Reference, "invoice_id": r.Number,
		"create_time": r.Created.In(time.FixedZone("", -8*3600)).Format(time.RFC3339),
		"links": []any{
			object{"href": p.URL + "/v2/payments/refunds/" + r.ID, "rel": "self", "method": "GET"},
			object{"href": p.URL + "/v2/payments/captures/" + r.Capture, "rel": "up", "method": "GET"},
		},
	}
}
