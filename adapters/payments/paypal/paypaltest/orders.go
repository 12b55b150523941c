package paypaltest

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/shopspring/decimal"
)

// An Order is PayPal's, with everything that has become of it.
type Order struct {
	ID        string
	Status    string // CREATED, PAYER_ACTION_REQUIRED, APPROVED, COMPLETED, VOIDED
	Unit      string // reference of its purchase unit
	Reference string // ours: the panel's order
	Number    string
	Amount    Money
	Payee     string
	ReturnURL string
	CancelURL string
	Created   time.Time
	Updated   time.Time
	Captures  []Capture
	Refunds   []Refund
	Keeps     bool   // the customer is asked whether the method may be kept
	Token     string // the method that was kept with it
	CaptureAs string // its captures become this; empty: what [PayPal.CaptureAs] says
}

// Money is what PayPal writes: "28.70", "EUR".
type Money struct {
	Currency string `json:"currency_code"`
	Value    string `json:"value"`
}

// A Capture is money taken.
type Capture struct {
	ID      string
	Status  string // COMPLETED, PENDING, DECLINED, PARTIALLY_REFUNDED, REFUNDED
	Amount  Money
	Created time.Time
}

// A Refund is money given back, or taken back by PayPal.
type Refund struct {
	ID        string
	Capture   string
	Status    string // COMPLETED, PENDING, FAILED
	Amount    Money
	Reference string
	Number    string
	Created   time.Time
}

func (p *PayPal) create(r *http.Request) reply {
	return p.once(r, func(body []byte) (int, func() any, *reply) {
		var ask struct {
			Intent string `json:"intent"`
			Units  []struct {
				Unit      string `json:"reference_id"`
				Reference string `json:"custom_id"`
				Number    string `json:"invoice_id"`
				Amount    Money  `json:"amount"`
			} `json:"purchase_units"`
			Source *asking `json:"payment_source"`
		}
		if err := json.Unmarshal(body, &ask); err != nil || ask.Intent != "CAPTURE" || len(ask.Units) != 1 ||
			!positive(ask.Units[0].Amount) {
			no := refuse(http.StatusBadRequest, "INVALID_REQUEST", "INVALID_PARAMETER_VALUE")
			return 0, nil, &no
		}
		unit := ask.Units[0]
		o := &Order{
			ID: p.id("ORD"), Status: "CREATED", Unit: or(unit.Unit, "default"), Reference: unit.Reference,
			Number: unit.Number, Amount: unit.Amount,
			Payee: Merchant, Created: p.now().UTC(), Updated: p.now().UTC(),
		}
		if no := p.askFor(o, ask.Source); no != nil {
			return 0, nil, no
		}
		p.orders[o.ID] = o
		p.did("create", r.Header.Get("PayPal-Request-Id"))
		return http.StatusOK, func() any { return p.shown(o) }, nil
	})
}

func positive(m Money) bool {
	value, err := decimal.NewFromString(m.Value)
	return err == nil && value.IsPositive() && len(m.Currency) == 3
}

func (p *PayPal) get(r *http.Request) reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	o, found := p.orders[r.PathValue("order")]
	if !found {
		return absent()
	}
	return reply{http.StatusOK, p.shown(o)}
}

func (p *PayPal) capture(r *http.Request) reply {
	return p.once(r, func(body []byte) (int, func() any, *reply) {
		o, found := p.orders[r.PathValue("order")]
		no := reply{}
		switch {
		case !found:
			no = absent()
		case o.Status == "COMPLETED":
			no = unprocessable("ORDER_ALREADY_CAPTURED")
		case o.Status == "CREATED" && savedIn(body) != nil:
			if refused := p.charge(o, savedIn(body), r.Header.Get("PayPal-Request-Id")); refused != nil {
				return 0, nil, refused
			}
			return http.StatusCreated, func() any { return p.shown(o) }, nil
		case o.Status != "APPROVED":
			no = unprocessable("ORDER_NOT_APPROVED")
		case p.captures == "INSTRUMENT_DECLINED":
			o.Status, no = "PAYER_ACTION_REQUIRED", unprocessable("INSTRUMENT_DECLINED")
		default:
			p.take(o, r.Header.Get("PayPal-Request-Id"))
			return http.StatusCreated, func() any { return p.shown(o) }, nil
		}
		return 0, nil, &no
	})
}

// take captures what was approved.
func (p *PayPal) take(o *Order, key string) {
	o.Status, o.Updated = "COMPLETED", p.now().UTC()
	o.Captures = append(o.Captures, Capture{ID: p.id("CAP"), Status: or(o.CaptureAs, p.captures), Amount: o.Amount, Created: o.Updated})
	p.keep(o)
	p.did("capture", key)
	p.tellCapture(o, len(o.Captures)-1)
}

func (p *PayPal) refund(r *http.Request) reply {
	return p.once(r, func(body []byte) (int, func() any, *reply) {
		var ask struct {
			Amount    Money  `json:"amount"`
			Reference string `json:"custom_id"`
			Number    string `json:"invoice_id"`
		}
		o, i := p.byCapture(r.PathValue("capture"))
		no := reply{}
		switch err := json.Unmarshal(body, &ask); {
		case o == nil:
			no = absent()
		case err != nil || !positive(ask.Amount) || !allowed(ask.Reference):
			no = refuse(http.StatusBadRequest, "INVALID_REQUEST", "INVALID_PARAMETER_SYNTAX")
		case o.Captures[i].Status == "PENDING":
			no = unprocessable("PENDING_CAPTURE")
		case o.Captures[i].Status == "REFUNDED":
			no = unprocessable("CAPTURE_FULLY_REFUNDED")
		case value(ask.Amount).GreaterThan(o.left(i)):
			no = unprocessable("REFUND_AMOUNT_EXCEEDED")
		default:
			at := p.give(
				o, i, Refund{Status: "COMPLETED", Amount: ask.Amount, Reference: ask.Reference, Number: ask.Number},
				"PAYMENT.CAPTURE.REFUNDED",
			)
			p.did("refund", r.Header.Get("PayPal-Request-Id"))
			return http.StatusCreated, func() any { return p.shownRefund(o, o.Refunds[at]) }, nil
		}
		return 0, nil, &no
	})
}

// allowed are the references that PayPal keeps for a refund.
func allowed(reference string) bool {
	for _, c := range reference {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '-' && c != '_' && c != '.' && c != ',' {
			return false
		}
	}
	return len(reference) <= 127
}

func (p *PayPal) byCapture(id string) (*Order, int) {
	for _, o := range p.orders {
		for i, c := range o.Captures {
			if c.ID == id {
				return o, i
			}
		}
	}
	return nil, 0
}

func value(m Money) decimal.Decimal { return decimal.RequireFromString(m.Value) }

// left is what has not been given back of a capture.
func (o *Order) left(capture int) decimal.Decimal {
	rest := value(o.Captures[capture].Amount)
	for _, r := range o.Refunds {
		if r.Capture == o.Captures[capture].ID && r.Status != "FAILED" {
			rest = rest.Sub(value(r.Amount))
		}
	}
	return rest
}

// give books a refund and says so.
func (p *PayPal) give(o *Order, capture int, r Refund, event string) int {
	r.ID, r.Capture, r.Created = p.id("REF"), o.Captures[capture].ID, p.now().UTC()
	if r.Reference == "" { // it takes over that of the payment
		r.Reference, r.Number = o.Reference, o.Number
	}
	o.Refunds = append(o.Refunds, r)
	o.restate(capture)
	p.tell(event, p.shownRefund(o, r))
	return len(o.Refunds) - 1
}

func (o *Order) restate(capture int) {
	switch c, left := &o.Captures[capture], o.left(capture); {
	case left.IsZero():
		c.Status = "REFUNDED"
	case left.LessThan(value(c.Amount)):
		c.Status = "PARTIALLY_REFUNDED"
	default:
		c.Status = "COMPLETED"
	}
}
