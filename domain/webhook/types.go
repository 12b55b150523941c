package webhook

import (
	"slices"
	"strings"
)

// A Type is one sort of event that endpoints may hear of.
type Type struct {
	Name string // "site.created"
	Says string // when it is sent
}

// TestEvent is what an endpoint is sent so that its owner sees whether it works.
const TestEvent = "endpoint.test"

// lives is what happens to a record of each kind that is announced.
var lives = []Type{
	{"created", "was asked for"},
	{"updated", "is to be changed, or was"},
	{"active", "is set up as it was asked for"},
	{"failed", "was refused by the hosting engine"},
	{"deleted", "is gone"},
}

// others are all events that are not of such records.
var others = []Type{
	{"tenant.suspended", "The tenant was suspended: nothing of it is served."},
	{"tenant.reactivated", "The tenant is served again."},
	{"certificate.issued", "A certificate was issued or renewed."},
	{"certificate.failed", "A certificate was not issued or renewed."},
	{"certificate.expiring", "A certificate is about to expire and was not renewed."},
	{"vm.traffic", "A virtual server has used 80 % of its traffic of the month, or all of it."},
	{"order.active", "An order is paid and its service is set up."},
	{"order.refunded", "An order was refunded in full."},
	{"order.cancelled", "An order was cancelled."},
	{"invoice.created", "An invoice was issued."},
	{"invoice.paid", "An open invoice was paid."},
	{"invoice.part_paid", "A part of an open invoice was paid."},
	{"credit_note.created", "A credit note was issued."},
	{"subscription.renewed", "The next period of a subscription is paid for, or free."},
	{"subscription.past_due", "The payment of a subscription is overdue."},
	{"subscription.suspended", "A subscription that is not paid was suspended: its service rests."},
	{"subscription.change_planned", "A subscription is to change its plan at the end of its period."},
	{"subscription.changed", "A subscription has another plan or billing period."},
	{"subscription.cancelled", "A subscription was cancelled for the end of its period."},
	{"subscription.ended", "A subscription has ended."},
	{TestEvent, "A user asked for a test message (POST webhook-endpoints/{id}/test/)."},
}

// Types are all events that endpoints may hear of (docs/webhooks.md, "Events"):
// those of the kinds of records that are announced, and the others.
func Types(kinds []string) (all []Type) {
	for _, kind := range kinds {
		for _, life := range lives {
			all = append(all, Type{kind + "." + life.Name, "A " + strings.ReplaceAll(kind, "_", " ") + " " + life.Says + "."})
		}
	}
	return append(all, others...)
}

// IsType tells whether there can be events of this name. Which kinds of records
// there are, the caller knows.
func IsType(name string) bool {
	kind, life, _ := strings.Cut(name, ".")
	of := func(t Type) bool { return t.Name == name }
	return slices.ContainsFunc(others, of) || kind != "" && slices.ContainsFunc(lives, func(t Type) bool { return t.Name == life })
}

// Names are all that an endpoint may list: each type, each group of types
// ("site.*"), and "*".
func Names(kinds []string) []string {
	names := []string{"*"}
	for _, t := range Types(kinds) {
		group, _, _ := strings.Cut(t.Name, ".")
		if group += ".*"; t.Name != TestEvent && !slices.Contains(names, group) {
			names = append(names, group)
		}
		names = append(names, t.Name)
	}
	return names
}
