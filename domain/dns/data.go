package dns

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A form is how the data of one type of record is written.
type form struct {
	message string                             // what the caller reads when the data is not of it
	read    func(data, origin string) []string // its parts in normal form; nil: not of it
}

// pointing are the types whose data ends in the name of a host.
var pointing = []string{CNAME, MX, NS, PTR, SRV}

const notHost = "Enter a valid host name."

var forms = map[string]form{
	A:     {"Enter a valid IPv4 address.", address(netip.Addr.Is4)},
	AAAA:  {"Enter a valid IPv6 address.", address(netip.Addr.Is6)},
	CNAME: {notHost, pointsTo(false)},
	MX:    {notHost, nowhereOr(pointsTo(true))},
	NS:    {notHost, pointsTo(true)},
	PTR:   {notHost, pointsTo(true)},
	SRV:   {`Enter SRV data as "weight port target".`, readSRV},
	CAA:   {`Enter CAA data as 'flags tag "value"'.`, readCAA},
	TXT:   {"Enter valid TXT data.", readTXT},
}

// CheckData refuses data that a record of the type cannot hold in a zone of the
// origin, as a refusal of the field "data".
func CheckData(recordType, data, origin string) error {
	f, known := forms[recordType]
	switch {
	case !known:
		return domain.RefuseField("record_type", field.NotAChoice(recordType))
	case f.read(data, origin) == nil, slices.Contains(pointing, recordType) && !readable(data):
		return domain.RefuseField("data", f.message)
	}
	return nil
}

// Normal is the data as engines keep it: addresses in their shortest form, full
// names with a final dot in lower case, texts without the quotes around them.
// Two records say the same when their normal forms are equal. What is no data
// of the type stays as it is.
func Normal(recordType, data, origin string) string {
	f, known := forms[recordType]
	if !known {
		return data
	}
	if parts := f.read(data, origin); parts != nil {
		return strings.Join(parts, " ")
	}
	return data
}

func address(family func(netip.Addr) bool) func(data, origin string) []string {
	return func(data, _ string) []string {
		a, err := netip.ParseAddr(data)
		if err != nil || a.Zone() != "" || !family(a) {
			return nil
		}
		return []string{a.String()}
	}
}

func pointsTo(host bool) func(data, origin string) []string {
	return func(data, origin string) []string {
		target := Target(data, origin)
		if !isTarget(data, host) || len(target) > maxName {
			return nil
		}
		return []string{target}
	}
}

// nowhereOr also takes ".", which says that there is no such service
// (RFC 7505 for mail, RFC 2782 for others).
func nowhereOr(read func(data, origin string) []string) func(data, origin string) []string {
	return func(data, origin string) []string {
		if data == "." {
			return []string{data}
		}
		return read(data, origin)
	}
}

var readService = nowhereOr(pointsTo(true))

func readSRV(data, origin string) []string {
	parts := strings.Fields(data)
	if len(parts) != 3 {
		return nil
	}
	weight, port, target := number(parts[0], 65535), number(parts[1], 65535), readService(parts[2], origin)
	if weight == "" || port == "" || target == nil {
		return nil
	}
	return []string{weight, port, target[0]}
}

// number is a decimal number without leading zeros, or "" if it is none up to
// most.
func number(s string, most uint64) string {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > most {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// The value is printable ASCII, in which a quote or a backslash would need
// escapes that certificate authorities read differently.
var caa = regexp.MustCompile(`^(0|128)[ \t]+((?i)issue|issuewild|issuemail|iodef)[ \t]+"([ !#-\[\]-~]{0,255})"$`)

func readCAA(data, _ string) []string {
	parts := caa.FindStringSubmatch(data)
	if parts == nil {
		return nil
	}
	return []string{parts[1], strings.ToLower(parts[2]), `"` + parts[3] + `"`}
}

func readTXT(data, _ string) []string {
	text, ok := Text(data)
	if !ok {
		return nil
	}
	return []string{text}
}
