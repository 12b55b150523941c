package hosting

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A Place is what a record is asked for in: what its derived fields follow
// from, and what it is checked against, besides its own fields.
type Place struct {
	ID       int64 // of the record
	Tenant   int64
	At       time.Time
	Operator bool // the caller operates the installation

	Sent   field.Set    // the fields that the request has brought
	Before field.Values // of the record so far; nil: it is new
	Parent field.Values // of what the record is a part of: the zone of a DNS record; nil: of nothing
	Limits Limits       // of the tenant
	Client int64        // the engine's number of the tenant; 0: not known

	Package     *int64                               // the one that new tenants get; nil: none
	NameServers []string                             // of the installation, with final dots
	Hosts       []string                             // names under which the panel itself is reached
	Engines     []string                             // names under which the engine is reached
	StyleSheet  func(css string) (problems []string) // what is not allowed in one; nil: it is not looked at
	Beside      []field.Values                       // the other resources that [NearTo] asks for
}

// New tells whether there was no such record before.
func (p Place) New() bool { return p.Before == nil }

// text is a text of the values, such as the parent's "origin"; "" if it has none.
func text(v field.Values, name string) (s string) {
	_ = json.Unmarshal(v[name], &s) // what is no text is none
	return s
}

func number(v field.Values, name string) (n int64) {
	_ = json.Unmarshal(v[name], &n) // what is no number is none
	return n
}

// NotUnique is the refusal of a record that has these fields in common with
// another one.
func (k Kind) NotUnique(set []string) error {
	if len(set) == 1 {
		return domain.RefuseField(set[0], field.AlreadyExists(k.Label, strings.ReplaceAll(set[0], "_", " ")))
	}
	return domain.RefuseField(field.NonField, "The fields "+strings.Join(set, ", ")+" must make a unique set.")
}

// No proof is asked for a domain that a tenant claims. Those that cannot be its
// own are refused, except to superusers ([Kind.Claims]).

// NearOthers is the refusal of a domain that another tenant has in another
// place, or that is above or below one of another tenant.
const NearOthers = "This domain, or one above or below it, belongs to another tenant."

// NotForTenants is the refusal of a domain that no tenant may have: a public
// suffix, and what is above or below a host of the panel; "": there is none.
func NotForTenants(name string, hosts []string) string {
	name = plainName(name)
	if suffix, _ := publicsuffix.PublicSuffix(name); suffix == name {
		return "This domain is a public suffix."
	}
	own := func(host string) bool {
		host = plainName(host)
		return host != "" && (Below(name, host) || Below(host, name))
	}
	if slices.ContainsFunc(hosts, own) {
		return "This domain is the panel's own, or above or below it."
	}
	return ""
}

// plainName is a name in lower case and without its final dot.
func plainName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
