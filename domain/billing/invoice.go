package billing

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/tax"
	"hostpanel/domain/texts"
)

// InvoiceCategory is that of the streams "invoice-<id>". The id of an order's first
// invoice is that of the order.
const InvoiceCategory = "invoice"

// An Invoice is never changed and never deleted; what goes back of it is
// credited. One that is open has yet to be paid.
type Invoice struct {
	Issued bool          `json:"issued"`
	Status InvoiceStatus `json:"status"`
	PaidBy uuid.UUID     `json:"paid_by,omitzero"` // the order whose money has paid it; zero: none
	Order  uuid.UUID     `json:"order"`            // the first of its subscription
	Tenant int64         `json:"tenant"`
	Number string        `json:"number"`
	Sum
	TaxRate  decimal.Decimal `json:"tax_rate"`
	Currency string          `json:"currency"`
	Test     bool            `json:"test"`
	Credited Sum             `json:"credited"`
	Refunds  map[string]bool `json:"refunds,omitempty"` // that were credited
	tax.Treatment
	Documents  map[string]bool `json:"documents,omitempty"` // that are stored, by number
	FromCredit decimal.Decimal `json:"from_credit"`         // what the balance has paid of it
}

// An InvoiceStatus is whether an invoice has been paid.
type InvoiceStatus string

const (
	Open      InvoiceStatus = "open"      // it has yet to be paid
	Paid      InvoiceStatus = "paid"      // it is paid, whatever has gone back since
	Withdrawn InvoiceStatus = "withdrawn" // it was credited before it was paid
)

// InvoiceStatuses are all of them.
var InvoiceStatuses = []string{string(Open), string(Paid), string(Withdrawn)}

// TenantID is the tenant that is billed.
func (i Invoice) TenantID() int64 { return i.Tenant }

// Invoices is the behaviour of the streams "invoice-<id>".
var Invoices = domain.Decider[Invoice, InvoiceCommand, InvoiceEvent]{
	Decide: func(i Invoice, c InvoiceCommand) ([]InvoiceEvent, error) { return c.decide(i) },
	Evolve: func(i Invoice, e InvoiceEvent) Invoice { return e.evolve(i) },
	Fold:   1,
}

type (
	// An InvoiceCommand asks for an invoice.
	InvoiceCommand interface {
		domain.Command
		decide(Invoice) ([]InvoiceEvent, error)
	}
	// An InvoiceEvent belongs to the stream of an invoice.
	InvoiceEvent interface {
		domain.Event
		evolve(Invoice) Invoice
	}
)

// EventTypes lists every event that the streams of this package may hold.
var EventTypes = []domain.EventType{
	domain.Register[SubscriptionStarted](domain.Was(withDeadline)),
	domain.Register[SubscriptionEnded](),
	domain.Register[InvoiceIssued](domain.Was(invoiceOfOneLine)).
		Sealing(domain.Fiscal, "customer_name", "customer_email", "customer_company").Sealing(domain.Fiscal, buyer.Names...),
	domain.Register[InvoicePaid](),
	domain.Register[CreditNoteIssued](),
	domain.Register[PeriodInvoiced](),
	domain.Register[PaymentOverdue](),
	domain.Register[PaymentReminded](),
	domain.Register[SubscriptionSuspended](),
	domain.Register[EndAnnounced](),
	domain.Register[PeriodRenewed](),
	domain.Register[PaymentExtended](),
	domain.Register[CancellationRequested](),
	domain.Register[CancellationRevoked](),
	domain.Register[MethodChosen](),
	domain.Register[ChargeStarted](),
	domain.Register[ChargeFailed](),
	domain.Register[ChargeExpired](),
	domain.Register[PaymentMethodSaved]().Sealing(domain.Contact, "brand", "last4", "expires"),
	domain.Register[PaymentMethodRemoved](),
	domain.Register[MethodSetupStarted](),
	domain.Register[MethodSetupOpened](),
	domain.Register[MethodSetupSaved](),
	domain.Register[MethodSetupEnded](),
	domain.Register[MethodSetupDiscarded](),
	domain.Register[ChangeInvoiced](),
	domain.Register[ChangePlanned](),
	domain.Register[ChangeWithdrawn](),
	domain.Register[ChangeDropped](),
	domain.Register[PlanChanged](),
	domain.Register[DocumentMade](),
	domain.Register[FiscalKeysDestroyed](),
	domain.Register[InvoicePartPaid](),
	domain.Register[InvoicePartReturned](),
	domain.Register[PaymentBooked](),
	domain.Register[CreditApplied](),
	domain.Register[CreditReturned](),
	domain.Register[CreditPaidOut](),
	domain.Register[BookingReversed](),
}

// Issue writes an invoice, with totals that are frozen from then on.
type Issue struct {
	ID                   uuid.UUID // zero: that of the order, whose first invoice it is
	Order                uuid.UUID // that started the subscription
	Tenant               int64
	SubjectID            uuid.UUID
	Name, Email, Company string
	Buyer                buyer.Details
	Seller               Seller
	Lines                []Line
	Total, Subtotal, Tax decimal.Decimal
	TaxRate              decimal.Decimal // percent
	Treatment            tax.Treatment   // zero: the rate is the single one
	Currency             string
	Test                 bool            // no real money: another series
	DueAt                time.Time       // zero: it is paid already
	Prepaid              decimal.Decimal // what the balance pays of it in the same append
	At                   time.Time
}

// A Seller is who sells, as invoices name them. It is the operator's own business, so
// nothing of it is sealed. An invoice may name none.
type Seller struct {
	Name       string `json:"name"`
	Address    string `json:"address"`
	City       string `json:"city"`
	PostalCode string `json:"postal_code"`
	Country    string `json:"country"`  // ISO 3166, two letters
	TaxID      string `json:"tax_id"`   // such as ESB12345678
	Register   string `json:"register"` // where the business is registered
	IBAN       string `json:"iban"`
	BIC        string `json:"bic"`
	Exemption  string `json:"exemption,omitempty"` // why a rate of 0 charges no tax; blank: it is no exemption
}

// Fields are the seller.
func (s *Seller) Fields() field.Set {
	return field.Set{
		field.Text("name", &s.Name).ReadOnly().Labelled("invoice_name"),
		field.Text("address", &s.Address).ReadOnly(),
		field.Text("city", &s.City).ReadOnly(),
		field.Text("postal_code", &s.PostalCode).ReadOnly(),
		field.Text("country", &s.Country).ReadOnly().Doc("Two capitals, as ISO 3166 has them."),
		field.Text("tax_id", &s.TaxID).ReadOnly().Labelled("invoice_tax_id"),
		field.Text("register", &s.Register).ReadOnly().Doc("Where the business is registered.").Labelled("invoice_register"),
		field.Text("iban", &s.IBAN).ReadOnly().Labelled("invoice_iban"),
		field.Text("bic", &s.BIC).ReadOnly().Labelled("invoice_bic"),
		field.Text("exemption", &s.Exemption).ReadOnly().Doc("Why a rate of 0 charges no tax; blank: it is no exemption."),
	}
}

// Check refuses a seller whom no invoice can name, with the name of the field.
func (s Seller) Check() error {
	switch {
	case s.Name == "":
		return domain.RefuseField("name", "A seller has a name.")
	case s.Address == "":
		return domain.RefuseField("address", "A seller has an address.")
	case s.City == "":
		return domain.RefuseField("city", "A seller has a city.")
	case !buyer.IsCountry(s.Country):
		return domain.RefuseField("country", "A country is two capitals of ISO 3166, such as ES.")
	}
	return nil
}

// A Line is a part of what is billed. Total includes tax, in units of the currency. A line
// that is of no period, such as a setup fee, has none.
type Line struct {
	Text        string          `json:"text"`
	PeriodStart time.Time       `json:"period_start,omitzero"`
	PeriodEnd   time.Time       `json:"period_end,omitzero"` // the first moment that is not billed
	Total       decimal.Decimal `json:"total"`
}

// Fields are the line.
func (l *Line) Fields() field.Set {
	var start, end *time.Time // nil: of no period
	if !l.PeriodEnd.IsZero() {
		start, end = &l.PeriodStart, &l.PeriodEnd
	}
	return field.Set{
		field.Text("text", &l.Text).ReadOnly(),
		field.NullTime("period_start", &start).ReadOnly(),
		field.NullTime("period_end", &end).ReadOnly().Doc("The first moment that is not billed."),
		field.Amount("total", &l.Total, 14, 2).ReadOnly().Doc("Tax included."),
	}
}

// PeriodLine bills a period of a plan, in a language.
func PeriodLine(language, plan, cycle string, start, end time.Time, total decimal.Decimal) Line {
	return Line{Text: texts.Say(language, "invoices.period_"+cycle, "plan", plan), PeriodStart: start, PeriodEnd: end, Total: total}
}

func (c Issue) decide(i Invoice) ([]InvoiceEvent, error) {
	if i.Issued {
		return nil, nil
	}
	return []InvoiceEvent{InvoiceIssued{
		Order: c.Order, Tenant: c.Tenant, SubjectID: c.SubjectID,
		Name: c.Name, Email: c.Email, Company: c.Company, Details: c.Buyer,
		Seller: c.Seller, Lines: c.Lines,
		Total: c.Total, Subtotal: c.Subtotal, Tax: c.Tax, TaxRate: c.TaxRate, Currency: c.Currency,
		Status: c.status(), DueAt: c.DueAt, Ledger: SeriesOf(c.At, c.Test), At: c.At,
		Treatment: c.Treatment, Prepaid: c.Prepaid,
	}}, nil
}

func (c Issue) status() InvoiceStatus {
	if c.DueAt.IsZero() {
		return Paid
	}
	return Open
}

const testSeries = "TEST"

// SeriesOf names the series of an invoice: by the year of its issue (UTC), and
// apart for orders without real money.
func SeriesOf(at time.Time, test bool) string {
	if test {
		return fmt.Sprintf(testSeries+"-%d", at.UTC().Year())
	}
	return fmt.Sprintf("INV-%d", at.UTC().Year())
}

// IsTest tells whether the invoice with a number is one without real money.
func IsTest(number string) bool { return strings.HasPrefix(number, testSeries) }

// Stream is the history of the invoice.
func (c Issue) Stream() domain.Stream {
	if c.ID == uuid.Nil {
		return invoice(c.Order)
	}
	return invoice(c.ID)
}

// Begins marks the first command of a stream ([domain.Beginning]).
func (Issue) Begins() {}

func invoice(id uuid.UUID) domain.Stream {
	return domain.Stream{Category: InvoiceCategory, ID: id.String()}
}

// InvoiceIssued is the invoice itself. Its number is given by the log, without
// gaps, in the moment in which it is written.
type InvoiceIssued struct {
	Order     uuid.UUID       `json:"order"`
	Tenant    int64           `json:"tenant"`
	SubjectID uuid.UUID       `json:"subject"`
	Name      string          `json:"customer_name"`
	Email     string          `json:"customer_email"`
	Company   string          `json:"customer_company"`
	Seller    Seller          `json:"seller"`
	Lines     []Line          `json:"lines"` // their totals add up to Total
	Total     decimal.Decimal `json:"total"`
	Subtotal  decimal.Decimal `json:"subtotal"`
	Tax       decimal.Decimal `json:"tax"`
	TaxRate   decimal.Decimal `json:"tax_rate"`
	Currency  string          `json:"currency"`
	Status    InvoiceStatus   `json:"status"`
	DueAt     time.Time       `json:"due_at,omitzero"`
	Prepaid   decimal.Decimal `json:"prepaid,omitzero"` // what the balance pays of it in the same append
	Ledger    string          `json:"series"`
	Sequence  int64           `json:"sequence"` // 1, 2, 3 … in its series
	At        time.Time       `json:"at"`
	buyer.Details
	tax.Treatment
}

func (InvoiceIssued) EventName() string { return "billing.invoice_issued" }

func (e InvoiceIssued) Says() string {
	return fmt.Sprintf("invoice %s over %s %s, %s", e.Number(), e.Total.StringFixed(2), e.Currency, e.Status)
}

// Series is where the number is drawn: "INV-2026".
func (e InvoiceIssued) Series() string { return e.Ledger }

// WithNumber is the invoice with its number.
func (e InvoiceIssued) WithNumber(n int64) domain.Event { e.Sequence = n; return e }

// FiscalYear is the year in which the invoice was issued.
func (e InvoiceIssued) FiscalYear() int { return yearOf(e.Ledger) }

// yearOf is the year of a series, with which its name ends.
func yearOf(series string) int {
	year, _ := strconv.Atoi(series[strings.LastIndexByte(series, '-')+1:])
	return year
}

// Number is what people call the invoice: "INV-2026-000001".
func (e InvoiceIssued) Number() string { return numbered(e.Ledger, e.Sequence) }

func numbered(series string, n int64) string { return fmt.Sprintf("%s-%06d", series, n) }

func (e InvoiceIssued) evolve(Invoice) Invoice {
	var payer uuid.UUID
	if e.Status == Paid {
		payer = e.Order
	}
	return Invoice{
		PaidBy: payer,
		Issued: true, Status: e.Status, Order: e.Order, Tenant: e.Tenant, Number: e.Number(), Sum: Sum{e.Total, e.Subtotal, e.Tax},
		TaxRate: e.TaxRate, Currency: e.Currency, Test: IsTest(e.Ledger), Treatment: e.Treatment,
	}
}

// An invoice1 is InvoiceIssued as it was before it named the seller, with one line.
type invoice1 struct {
	InvoiceIssued
	Line string `json:"line"`
}

func invoiceOfOneLine(was invoice1) InvoiceIssued {
	e := was.InvoiceIssued
	e.Lines = []Line{{Text: was.Line, Total: e.Total}}
	return e
}
