// Package dns holds what is true of names and records in any zone: what may
// stand in a record, which records go together, how a zone's serial grows, and
// how a zone is written down. It knows neither tenants nor engines
// (docs/hosting.md, "DNS").
package dns

import (
	"regexp"
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// Types of records that customers keep. The SOA and the zone's own name
// servers are not among them: the panel writes those itself.
const (
	A     = "A"
	AAAA  = "AAAA"
	CNAME = "CNAME"
	MX    = "MX"
	TXT   = "TXT"
	NS    = "NS"
	SRV   = "SRV"
	CAA   = "CAA"
	PTR   = "PTR"
)

// Types are all of them, in the order in which the API names them.
var Types = []string{A, AAAA, CNAME, MX, TXT, NS, SRV, CAA, PTR}

const (
	// MaxRecords is how many records a zone may have.
	MaxRecords = 5000

	// MaxData is how many characters the data of a record may have.
	MaxData = 4096

	// maxName is how long a full name may be, with its final dot.
	maxName = 254

	// Apex is the name of the zone itself.
	Apex = "@"
)

// Priority is what a record of the type has when the customer names none.
func Priority(recordType string) int64 {
	if recordType == MX {
		return 10
	}
	return 0
}

// CheckBeside refuses a record at a name where records of the other types
// stand already: a CNAME stands alone, and never at the apex.
func CheckBeside(recordType, name string, others ...string) error {
	conflict := slices.Contains(others, CNAME)
	if recordType == CNAME {
		conflict = name == Apex || len(others) > 0
	}
	if conflict {
		return domain.RefuseField(field.NonField, "A CNAME record cannot coexist with other records at the same name.")
	}
	return nil
}

// CheckUse refuses data that name servers take and that nothing can use: a CNAME that leads to
// itself (RFC 1034), and an authority or a place for reports that certificate authorities do
// not read (RFC 8659).
func CheckUse(recordType, name, data, origin string) error {
	switch recordType {
	case CNAME:
		if Normal(CNAME, data, origin) == Full(name, origin) {
			return domain.RefuseField("data", "A CNAME cannot point to itself.")
		}
	case CAA:
		parts := readCAA(data, origin)
		switch {
		case parts == nil: // which CheckData refuses
		case parts[1] == "iodef" && !reported.MatchString(parts[2]):
			return domain.RefuseField("data", "Enter a mailto: or https: address for reports.")
		case parts[1] != "iodef" && !authority.MatchString(parts[2]):
			return domain.RefuseField("data", "Enter the domain of a certificate authority, such as letsencrypt.org, or ; for none.")
		}
	}
	return nil
}

var (
	reported  = regexp.MustCompile(`^"(?i:mailto:[^@ ]+@|https?://)[^ ]+"$`)
	authority = regexp.MustCompile(`^"[ ]*([A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+)?[ ]*(;.*)?"$`)
)

// SPF begins the text of a sender policy.
const SPF = "v=spf1"

// CheckTogether refuses a record at a name where one of the same type says something that
// breaks both: a null MX beside an MX (RFC 7505), and a second sender policy (RFC 7208). Both
// data are normal.
func CheckTogether(recordType, data, other string) error {
	switch recordType {
	case MX:
		if (data == ".") != (other == ".") {
			return domain.RefuseField("data", "A null MX (.) stands alone at its name.")
		}
	case TXT:
		if IsPolicy(data) && IsPolicy(other) {
			return domain.RefuseField("data", "This name has a sender policy (SPF) already.")
		}
	}
	return nil
}

// IsPolicy reports whether the data of a TXT record is a sender policy (RFC 7208). Receivers join the
// strings of the record, and compare the version without regard to case.
func IsPolicy(data string) bool {
	text, _ := Text(data)
	version, _, _ := strings.Cut(text, " ")
	return strings.EqualFold(version, SPF)
}

// CheckOwner refuses a name where no name server takes a record of the type, as
// a refusal of the field "name": what has an address or gets mail is a host, and
// a zone cannot be handed on at a wildcard. Active Directory alone keeps
// addresses at a name with "_". A part of a network (0/25) is only handed on, pointed
// from, or named in the reverse zones of IPv4.
func CheckOwner(recordType, name, origin string) error {
	full := Full(name, origin)
	if strings.Contains(full, "/") && (!isReverse(full) || !slices.Contains([]string{CNAME, NS, PTR}, recordType)) {
		return domain.RefuseField("name", notDomain)
	}
	switch recordType {
	case A, AAAA, MX:
		if strings.Contains(full, "_") && !strings.HasPrefix(full, "gc._msdcs.") {
			return domain.RefuseField("name", notHost)
		}
	case NS:
		if strings.HasPrefix(full, "*") {
			return domain.RefuseField("name", notHost)
		}
	}
	return nil
}
