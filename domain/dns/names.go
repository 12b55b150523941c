package dns

import (
	"regexp"
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

const notDomain = "Enter a valid domain name."

// Rules of the names that customers send.
var (
	// Origin is the name of a zone: full, of at least two labels.
	Origin = field.Rule{
		Max: 254, Message: notDomain, Tidy: field.FullName.Tidy, Holds: isOrigin, Problems: originProblems,
	}

	// Server is the full name of a name server: a host, so no wildcard, and no
	// "_" in it.
	Server = field.Rule{Max: 254, Message: notDomain, Tidy: field.FullName.Tidy, Holds: isServer}

	// RecordName is the name of a record: within the zone, or full. [Within]
	// brings it into the form in which it is kept.
	RecordName = field.Rule{Max: 254, Message: notDomain, Tidy: tidyRecordName, Holds: isRecordName}

	// Contact is who answers for a zone: an e-mail address, which is kept as the
	// name that stands in the SOA (a.b@x.com as a\.b.x.com.), or such a name.
	Contact = field.Rule{Max: 254, Message: "Enter a valid email address.", Tidy: tidyContact, Holds: isContact}
)

func isOrigin(s string) bool {
	name, dotted := strings.CutSuffix(s, ".")
	return dotted && field.Domain.Holds(plainOrigin(name))
}

func originProblems(s string) []string {
	name, dotted := strings.CutSuffix(s, ".")
	if !dotted {
		return []string{notDomain}
	}
	return field.Domain.Problems(plainOrigin(name))
}

// plainOrigin lets the name of a zone that no domain has pass for one.
func plainOrigin(name string) string {
	if isReverse(name + ".") {
		name = withoutSlashes(name)
	}
	return withoutUnderscores(name)
}

// isReverse reports whether a full name is in the reverse tree of IPv4.
func isReverse(name string) bool { return strings.HasSuffix(name, ".in-addr.arpa.") }

// withoutSlashes lets a name with labels such as 0/25, which stand for a part of a network
// (RFC 2317), pass for one with dashes.
func withoutSlashes(name string) string {
	labels := strings.Split(name, ".")
	for i, label := range labels {
		if partOfNetwork.MatchString(label) {
			labels[i] = strings.Replace(label, "/", "-", 1)
		}
	}
	return strings.Join(labels, ".")
}

var partOfNetwork = regexp.MustCompile(`^[0-9]{1,3}/[0-9]{1,3}$`)

func isServer(s string) bool { return field.FullName.Holds(s) && !strings.ContainsAny(s, "_*") }

// Hostmaster answers for a zone that names no contact. Labels with "_" or "/" are left
// out: no mail goes there.
func Hostmaster(origin string) string {
	for label, rest := cutLabel(origin); strings.ContainsAny(label, "_/"); label, rest = cutLabel(rest) {
		origin = rest
	}
	return "hostmaster." + origin
}

// withoutUnderscores lets a name with labels such as _msdcs pass for a domain.
func withoutUnderscores(name string) string {
	return strings.ReplaceAll(strings.TrimPrefix(name, "_"), "._", ".")
}

func tidyRecordName(s string) string {
	if strings.HasSuffix(s, ".") {
		return field.FullName.Tidy(s)
	}
	return field.DNSName.Tidy(s)
}

// isRecordName leaves it to [CheckOwner] where a slash may stand.
func isRecordName(s string) bool {
	name := withoutSlashes(s)
	return field.DNSName.Holds(name) || field.FullName.Holds(name)
}

// Within is the name of a record as it is kept: relative to the zone's origin.
// A name that ends in the origin is shortened, with a final dot or without;
// the origin itself is "@". Refused is a full name outside of the zone, and one
// too long for it.
func Within(name, origin string) (string, error) {
	zone := strings.TrimSuffix(origin, ".")
	short, full := strings.CutSuffix(name, ".")
	relative, inside := strings.CutSuffix(short, "."+zone)
	switch {
	case short == zone:
		return Apex, nil
	case inside:
		return relative, nil
	case full || len(Full(name, origin)) > maxName:
		return "", domain.RefuseField("name", notDomain)
	}
	return name, nil
}

// Full is the full name, with its final dot, of a name relative to a zone.
func Full(name, origin string) string {
	switch {
	case name == Apex || name == "":
		return origin
	case strings.HasSuffix(name, "."):
		return name
	}
	return name + "." + origin
}

// Target is the full name that a record's data points to. One label alone is a
// name in the zone, "@" its apex; several labels are a full name, with a final
// dot or without: customers who write "mail.example.com" mean just that.
func Target(data, origin string) string {
	if data == "." {
		return data
	}
	name := field.DNSName.Tidy(strings.TrimSuffix(data, "."))
	if strings.HasSuffix(data, ".") || strings.Contains(name, ".") {
		return name + "."
	}
	return Full(name, origin)
}

// isTarget tells whether a record may point to the name: no wildcard and no
// address; where a host is meant, no "_" and no part of a network either.
func isTarget(data string, host bool) bool {
	if data == Apex {
		return true
	}
	name := field.DNSName.Tidy(strings.TrimSuffix(data, "."))
	if host && strings.Contains(name, "_") || strings.Contains(name, "*") {
		return false
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	form := strings.ReplaceAll(name, aLabel, "x---")
	if !host && isReverse(name+".") {
		form = withoutSlashes(form)
	}
	return field.DNSName.Holds(form) && name != Apex && strings.Trim(last, "0123456789") != ""
}

// aLabel begins a label that stands for one of another script.
const aLabel = "xn--"

// readable tells whether the name at the end of a record's data has no label that claims to be of
// another script and is not.
func readable(data string) bool {
	parts := strings.Fields(data)
	return !slices.ContainsFunc(strings.Split(parts[len(parts)-1], "."), unreadable)
}

func unreadable(label string) bool {
	label = field.DNSName.Tidy(label)
	return strings.HasPrefix(label, aLabel) && !field.DNSName.Holds(label)
}

func tidyContact(s string) string {
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		local, rest := cutLabel(s)
		return local + "." + field.FullName.Tidy(rest)
	}
	return strings.ReplaceAll(s[:at], ".", `\.`) + "." + field.FullName.Tidy(s[at+1:])
}

func isContact(s string) bool {
	local, rest := cutLabel(s)
	address := strings.ReplaceAll(local, `\.`, ".") + "@" + strings.TrimSuffix(rest, ".")
	return strings.IndexByte(address, '@') <= 63 && strings.HasSuffix(rest, ".") && field.IsEmail(address)
}

// cutLabel takes the first label off a name; "\." is no end of it.
func cutLabel(name string) (label, rest string) {
	for i := range len(name) {
		if name[i] == '.' && (i == 0 || name[i-1] != '\\') {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}
