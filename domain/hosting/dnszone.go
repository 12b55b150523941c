package hosting

import (
	"regexp"
	"strings"

	"hostpanel/domain/field"
)

// A DNSZone is a domain as the panel's name servers answer for it.
type DNSZone struct {
	Origin     string // "example.com."
	NSPrimary  string
	AdminEmail string // "hostmaster.example.com."
	TTL        int64
	IsActive   bool
}

const usualTTL = 3600

// Fields are the zone.
func (z *DNSZone) Fields() field.Set {
	return field.Set{
		field.Text("origin", &z.Origin).Required().Is(zoneName).Once(),
		field.Text("ns_primary", &z.NSPrimary).Is(field.FullName).Doc("The installation's first name server when absent."),
		field.Text("admin_email", &z.AdminEmail).Is(zoneAddress).Doc("An address, or its form in DNS; hostmaster of the zone when absent."),
		ttl(&z.TTL).Default(usualTTL),
		field.Flag("is_active", &z.IsActive).Default(true),
	}
}

func ttl(at *int64) field.Field { return field.Int("ttl", at).Between(60, 1<<31-1).Doc("Seconds.") }

func (z *DNSZone) complete(p Place) {
	if z.NSPrimary == "" && !p.Sent.Has("ns_primary") && len(p.NameServers) > 0 {
		z.NSPrimary = p.NameServers[0]
	}
	if z.AdminEmail == "" && !p.Sent.Has("admin_email") {
		z.AdminEmail = "hostmaster." + z.Origin
	}
}

// zoneName is a full name of at least two labels.
var zoneName = field.Rule{
	Max: field.FullName.Max, Message: field.FullName.Message, Tidy: field.FullName.Tidy,
	Holds: func(s string) bool { return field.FullName.Holds(s) && strings.Count(s, ".") > 1 },
}

// zoneAddress is an e-mail address in the form that DNS has for it: the @ is a
// dot, and dots before it are escaped.
var zoneAddress = field.Rule{
	Max: field.FullName.Max, Message: "Enter a valid email address.", Tidy: tidyZoneAddress, Holds: isZoneAddress,
}

func tidyZoneAddress(s string) string {
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return tidyEscaped(s)
	}
	return strings.ReplaceAll(s[:at], ".", `\.`) + "." + field.FullName.Tidy(s[at+1:])
}

// tidyEscaped leaves escaped dots alone.
func tidyEscaped(s string) string {
	if local, host, escaped := cutZoneAddress(s); escaped {
		return local + "." + field.FullName.Tidy(host)
	}
	return field.FullName.Tidy(s)
}

var escapedLocal = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+/=?^_{|}~` + "`" + `-]+(\\\.[A-Za-z0-9!#$%&'*+/=?^_{|}~` + "`" + `-]+)*$`)

func isZoneAddress(s string) bool {
	local, host, found := cutZoneAddress(s)
	return found && len(s) <= 254 && len(local) <= 64 && escapedLocal.MatchString(local) && field.FullName.Holds(host)
}

// cutZoneAddress parts the first label, in which dots are escaped, from the
// rest.
func cutZoneAddress(s string) (local, host string, found bool) {
	for i := range len(s) {
		if s[i] == '.' && (i == 0 || s[i-1] != '\\') {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}
