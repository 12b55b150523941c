package order

import (
	"errors"
	"regexp"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/buyer"
	"hostpanel/domain/compute"
	"hostpanel/domain/money"
	"hostpanel/domain/tax"
)

// Place puts in an order for a plan. That the plan is on offer and that the
// names are free is checked where those stand, before.
type Place struct {
	ID       uuid.UUID
	Suffix   string    // the random part of the number, see [Suffix]
	Subject  uuid.UUID // of the customer's data
	Customer Customer

	Plan     Plan
	Period   Period
	Price    decimal.Decimal // per month, tax included
	SetupFee decimal.Decimal
	TaxRate  decimal.Decimal // percent
	Tax      tax.Treatment   // how that came about; zero: it is the single rate
	Currency string
	Method   Method
	Test     bool // no real money moves, whatever the method says

	Domain   string
	OS       string
	Language string
	Widget   string
	APIKey   string // public id
	Owner    int64  // user
	Return   Return
	Joins    Joining
	Bill     *Bill     // the invoice that the order pays; nil: it buys the plan
	KeepFor  uuid.UUID // the person who agrees that the payment method is kept; zero: it is not
	Charge   uuid.UUID // the kept payment method that is charged; zero: the customer pays on a page
	Machine  Machine
	At       time.Time
}

// A Machine is what the customer of a virtual server wants of it, and its place.
type Machine struct {
	Hostname  string             // "": the panel names it
	SSHKey    string             // of who may sign in; "": none
	Placement *compute.Placement // nil: the panel keeps no stock
}

// A Joining is the tenant to which an order adds a service, and the user who orders it.
// The zero Joining makes a tenant and, if need be, an account.
type Joining struct{ Tenant, User int64 }

// A Bill is an open invoice. An order that pays one buys nothing: its plan is that of the
// subscription.
type Bill struct {
	Invoice  uuid.UUID
	Total    decimal.Decimal
	Subtotal decimal.Decimal
	Tax      decimal.Decimal
}

// A Customer is who placed the order.
type Customer struct {
	Name, Email, Phone, Company string
	buyer.Details
}

// A Return is where the customer goes after the payment, or without it; "": where the
// widget says.
type Return struct{ SuccessURL, CancelURL string }

// ReturnPath is below which customers come back from payment providers.
const ReturnPath = "/storefront/return/"

// ReturnPage is the path of the page that tells the customer of an order how it stands.
func ReturnPage(order uuid.UUID) string { return ReturnPath + order.String() + "/" }

// A Period is how often a plan is billed.
type Period string

const (
	Monthly Period = "monthly" // one month at a time
	Yearly  Period = "yearly"  // one year at a time
)

// A Plan is what was bought, as it was on that day: all that provisioning
// needs to know of it.
type Plan struct {
	ID           int64            `json:"id"`
	Name         string           `json:"name"`
	Slug         string           `json:"slug"`
	ResourceType string           `json:"resource_type"`     // hosting, vps, saas
	Package      *int64           `json:"package,omitempty"` // hosting; nil: limits follow from the quotas
	Quotas       map[string]int64 `json:"quotas,omitempty"`  // hosting: quota_sites …; -1 is without limit
	VPS          *VPS             `json:"vps,omitempty"`
	SaaS         *SaaS            `json:"saas,omitempty"`
}

// A VPS is the machine that a VPS plan buys.
type VPS struct {
	Cores     int64  `json:"cores"`
	MemoryMB  int64  `json:"memory_mb"`
	DiskGB    int64  `json:"disk_gb"`
	TrafficTB int64  `json:"traffic_tb"`
	DefaultOS string `json:"default_os"`

	Snapshots int64 `json:"snapshots,omitempty"` // that the machine may have

	Nodes []string `json:"nodes,omitempty"` // on which the machine may be; none: all
}

// Size is what the machine takes of its node.
func (v VPS) Size() compute.Size {
	return compute.Size{Cores: v.Cores, MemoryMB: v.MemoryMB, DiskGB: v.DiskGB}
}

// SaaS is what a SaaS plan lets a sub-tenant have.
type SaaS struct {
	MaxVMs             int64 `json:"max_vms"`
	MaxHostingAccounts int64 `json:"max_hosting_accounts"`
	MaxAgents          int64 `json:"max_agents"`
	WhiteLabel         bool  `json:"whitelabel"`
}

func (c Place) decide(o Order) ([]Event, error) {
	if o.Status != "" {
		return nil, nil // the same request again
	}
	number, err := Number(c.At, c.Suffix)
	if err != nil {
		return nil, err
	}
	cost := c.Totals()
	var bill Bill
	if c.Bill != nil {
		bill, cost = *c.Bill, money.Totals{Period: c.Bill.Total, Total: c.Bill.Total, Subtotal: c.Bill.Subtotal, Tax: c.Bill.Tax}
	}
	minor, ok := c.Method.Charge(cost.Total, c.Currency)
	if !ok {
		return nil, domain.RefuseField("payment_method", `"`+c.Method.Name+`" is not a valid choice.`)
	}
	return o.move(StatusPending, Placed{
		Order: c.ID, Number: number, SubjectID: c.Subject,
		Name: c.Customer.Name, Email: c.Customer.Email, Phone: c.Customer.Phone, Company: c.Customer.Company, Details: c.Customer.Details,
		Plan: c.Plan, BillingPeriod: c.Period,
		Price: c.Price, PeriodPrice: cost.Period, SetupFee: c.SetupFee, TaxRate: c.TaxRate,
		Total: cost.Total, Subtotal: cost.Subtotal, Tax: cost.Tax, Currency: c.Currency,
		Provider: c.Method.Name, Minor: minor, Decimals: c.Method.Currencies[c.Currency], Test: c.Test || c.Method.Test,
		Domain: c.Domain, OS: c.OS, Language: c.Language, Widget: c.Widget, APIKey: c.APIKey, Owner: c.Owner,
		SuccessURL: c.Return.SuccessURL, CancelURL: c.Return.CancelURL,
		Tenant: c.Joins.Tenant, User: c.Joins.User, Invoice: bill.Invoice, KeepFor: c.KeepFor, Charge: c.Charge, At: c.At, Treatment: c.Tax,
		Placement: c.Machine.Placement, Hostname: c.Machine.Hostname, SSHKey: c.Machine.SSHKey,
	})
}

// letters are the digits and capitals that cannot be mistaken for one another.
const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

var suffix = regexp.MustCompile("^[" + letters + "]{6}$")

// Suffix makes the random part of an order number from six random bytes.
func Suffix(random [6]byte) string {
	for i, b := range random {
		random[i] = letters[b%32]
	}
	return string(random[:])
}

// Number is what people call the order: "ORD-20261121-7F3K9Q", by the day of
// its placing in UTC.
func Number(at time.Time, random string) (string, error) {
	if !suffix.MatchString(random) {
		return "", errors.New("order: the random part of an order number has six letters or digits")
	}
	return "ORD-" + at.UTC().Format("20060102") + "-" + random, nil
}

func (c Place) Stream() domain.Stream { return Stream(c.ID) }

// Begins marks the first command of a stream ([domain.Beginning]).
func (Place) Begins() {}

// Totals are what an order costs.
func (c Place) Totals() money.Totals {
	return tax.Decision{Treatment: c.Tax, Rate: c.TaxRate}.Totals(c.Price, c.SetupFee, c.Currency, c.Period == Yearly)
}
