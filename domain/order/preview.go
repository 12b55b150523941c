package order

import (
	"github.com/shopspring/decimal"

	"hostpanel/domain/money"
)

// A Preview tells what an order would cost and do if it were placed and paid now
// (docs/orders.md, "Preview").
type Preview struct {
	Place
	Lines     []PreviewLine // of the first invoice
	Cost      money.Totals
	Steps     []Step     // of the setup, in their order
	Conflicts []Conflict // for which the setup would stop, or make less than is paid for
	Silent    []string   // the systems outside that do not answer, so that less is known
}

// A PreviewLine is what the first invoice would bill.
type PreviewLine struct {
	Text  string
	Total decimal.Decimal
}

// A Step is what the setup of a service does.
type Step struct{ Name, Says string }

// A Conflict is a reason for which an order could not be set up as it is.
type Conflict struct {
	Field string `json:"field"`   // of the order, such as domain
	Code  string `json:"code"`    // one of ConflictCodes
	Text  string `json:"message"` // in English
}

// The codes of conflicts.
const (
	DomainTaken   = "domain_taken"   // the panel has it, or may not give it away
	TakenAtEngine = "engine_taken"   // another client of the hosting engine has the name
	QuotaExceeded = "quota_exceeded" // the limits do not allow what is ordered
	NodeFull      = "node_full"      // the hypervisor has no room for the machine
	TenantClosed  = "tenant_closed"  // the tenant to be joined takes no such service
)

// ConflictCodes are all codes of conflicts.
var ConflictCodes = []string{DomainTaken, TakenAtEngine, QuotaExceeded, NodeFull, TenantClosed}

// Conflict adds a conflict.
func (p *Preview) Conflict(field, code, text string) {
	p.Conflicts = append(p.Conflicts, Conflict{field, code, text})
}
