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

// Kinds are the sorts of hosting records whose life makes events, by their
// names in [Types].
var Kinds = strings.Fields("site database dns_zone dns_record mail_domain mailbox mail_alias ftp_account shell_user ssl_certificate whitelabel")

// lives is what happens to a record of each of the [Kinds].
var lives = []Type{
	{"created", "was asked for"},
	{"updated", "is to be changed, or was"},
	{"active", "is set up as it was asked for"},
	{"failed", "was refused by the hosting engine"},
	{"deleted", "is gone"},
}

// others are all events that are not of [Kinds].
var others = []Type{
	{"tenant.suspended", "The tenant was suspended: nothing of it is served."},
	{"tenant.reactivated", "The tenant is served again."},
	{"certificate.issued", "A certificate was issued or renewed."},
	{"certificate.failed", "A certificate was not issued or renewed."},
	{"certificate.expiring", "A certificate is about to expire and was not renewed."},
	{"order.active", "An order is paid and its service is set up."},
	{"order.refunded", "An order was refunded in full."},
	{"order.cancelled", "An order was cancelled."},
	{"invoice.created", "An invoice was issued."},
	{"credit_note.created", "A credit note was issued."},
	{TestEvent, "Somebody asked for a test message (POST webhook-endpoints/{id}/test/)."},
}

// Types are all events that endpoints may hear of (docs/webhooks.md, "Events").
var Types = catalogue()

func catalogue() (all []Type) {
	for _, kind := range Kinds {
		for _, life := range lives {
			all = append(all, Type{kind + "." + life.Name, "A " + strings.ReplaceAll(kind, "_", " ") + " " + life.Says + "."})
		}
	}
	return append(all, others...)
}

// IsType tells whether there are events of this name.
func IsType(name string) bool {
	return slices.ContainsFunc(Types, func(t Type) bool { return t.Name == name })
}

// Names are all that an endpoint may list: each type, each group of types
// ("site.*"), and "*".
func Names() []string {
	names := []string{"*"}
	for _, t := range Types {
		group, _, _ := strings.Cut(t.Name, ".")
		if group += ".*"; t.Name != TestEvent && !slices.Contains(names, group) {
			names = append(names, group)
		}
		names = append(names, t.Name)
	}
	return names
}
