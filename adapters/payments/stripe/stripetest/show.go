package stripetest

import "net/url"

// show is a session as the API shows it; its payment is an id alone unless it
// is asked for whole.
func (s *Server) show(x *session, q url.Values) map[string]any {
	v := map[string]any{
		"id": x.id, "object": "checkout.session", "livemode": s.live(), "mode": "payment", "status": x.status, "payment_status": x.payment,
		"client_reference_id": orNull(x.order), "metadata": x.metadata, "amount_total": x.minor,
		"amount_subtotal": x.minor, "currency": x.currency,
		"customer_email": orNull(x.email), "success_url": x.success, "cancel_url": orNull(x.cancel), "locale": orNull(x.locale),
		"created": x.created.Unix(), "expires_at": x.expires.Unix(), "payment_intent": nil, "url": nil,
	}
	if x.status == "open" {
		v["url"] = s.URL + "/c/pay/" + x.id
	}
	if x.setup != nil {
		v["mode"], v["setup_intent"], v["amount_total"], v["amount_subtotal"] = "setup", x.setup.id, nil, nil
	}
	if x.intent != nil {
		v["payment_intent"] = s.showIntent(x.intent, q)
	}
	return v
}

func (s *Server) showIntent(i *intent, q url.Values) any {
	const path = "payment_intent"
	if !expanded(q, path) {
		return i.id
	}
	return s.wholeIntent(i, q, path+".")
}

// wholeIntent is a payment as the API shows it; what is in it is an id alone unless the
// path to it is asked for.
func (s *Server) wholeIntent(i *intent, q url.Values, path string) map[string]any {
	v := map[string]any{
		"id": i.id, "object": "payment_intent", "livemode": s.live(), "status": i.status, "amount": i.minor, "amount_received": i.received,
		"currency": i.currency, "metadata": i.metadata, "created": i.created.Unix(), "latest_charge": nil, "last_payment_error": nil,
		"customer": orNull(i.customer), "payment_method": nil, "setup_future_usage": orNull(i.future),
		"client_secret": i.id + "_secret_canary",
	}
	if i.failed != "" {
		v["last_payment_error"] = i.lastError()
	}
	switch {
	case i.charge != nil && expanded(q, path+"latest_charge"):
		v["latest_charge"] = s.showCharge(i, expanded(q, path+"latest_charge.refunds"))
	case i.charge != nil:
		v["latest_charge"] = i.charge.id
	}
	switch {
	case i.method != nil && expanded(q, path+"payment_method"):
		v["payment_method"] = s.showMethod(i.method)
	case i.method != nil:
		v["payment_method"] = i.method.id
	}
	return v
}

func (s *Server) showCharge(i *intent, refunds bool) map[string]any {
	v := map[string]any{
		"id": i.charge.id, "object": "charge", "livemode": s.live(), "amount": i.charge.minor, "amount_refunded": i.charge.refunded,
		"refunded": i.charge.refunded == i.charge.minor, "disputed": i.charge.disputed, "currency": i.currency, "payment_intent": i.id,
		"metadata": i.metadata, "created": i.charge.created.Unix(), "status": "succeeded", "paid": true,
	}
	if refunds {
		v["refunds"], _ = s.listRefunds(request{params: url.Values{"payment_intent": {i.id}}})
	}
	return v
}

func (s *Server) showRefund(r *refund) map[string]any {
	return map[string]any{
		"id": r.id, "object": "refund", "status": r.status, "amount": r.minor, "currency": r.intent.currency, "metadata": r.metadata,
		"payment_intent": r.intent.id, "charge": r.intent.charge.id, "created": r.created.Unix(),
	}
}

func (s *Server) showDispute(d *dispute) map[string]any {
	moved := []any{}
	for _, minor := range d.moved {
		moved = append(
			moved,
			map[string]any{"id": newID("txn_"), "object": "balance_transaction", "amount": minor, "currency": d.intent.currency},
		)
	}
	return map[string]any{
		"id": d.id, "object": "dispute", "livemode": s.live(), "status": d.status, "amount": d.minor, "currency": d.intent.currency,
		"payment_intent": d.intent.id, "charge": d.intent.charge.id, "balance_transactions": moved, "metadata": map[string]string{},
		"reason": "fraudulent", "created": d.created.Unix(),
	}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
