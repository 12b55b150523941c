// Package dns holds what is true of names and records in any zone: what may
// stand in a record, which records go together, how a zone's serial grows, and
// how a zone is written down. It knows neither tenants nor engines
// (docs/hosting.md, "DNS").
package dns

import (
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

// CheckOwner refuses a name where no name server takes a record of the type, as
// a refusal of the field "name": what has an address or gets mail is a host, and
// a zone cannot be handed on at a wildcard. Active Directory alone keeps
// addresses at a name with "_".
func CheckOwner(recordType, name, origin string) error {
	full := Full(name, origin)
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
