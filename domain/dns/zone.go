package dns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// How long secondaries wait, in seconds, in the SOA of every zone.
const (
	Refresh = 7200
	Retry   = 540
	Expire  = 604800
	Minimum = 3600
)

// A Zone is a domain's names, as they are to be published.
type Zone struct {
	Origin      string   // with a final dot
	Primary     string   // name server of the SOA, with a final dot
	Contact     string   // as [Contact] keeps it
	NameServers []string // that serve the zone; none: the primary does
	Serial      Serial
	TTL         int64 // seconds, where a record has none of its own
	Records     []Record
}

// A Record is one of a zone's records, as customers keep it.
type Record struct {
	Name     string // relative to the zone, or full
	Type     string
	Data     string // as [CheckData] takes it
	Priority int64  // of MX and SRV
	TTL      int64  // seconds; 0: the zone's
}

// File is the zone as a master file (RFC 1035, 5): the SOA, the name servers,
// then the records in order of their names. Every name in it is full. Name
// servers that customers keep at the apex stand beside the panel's. A record
// for which a name server would refuse the whole zone is a comment in it, behind
// the reason: one customer's slip must not take a domain off the net.
func (z Zone) File() string {
	var b strings.Builder
	fmt.Fprintf(&b, "$ORIGIN %s\n$TTL %d\n", z.Origin, z.TTL)
	fmt.Fprintf(&b, "%s\t%d\tIN\tSOA\t%s %s %d %d %d %d %d\n",
		z.Origin, z.TTL, z.Primary, z.Contact, z.Serial, Refresh, Retry, Expire, Minimum)
	records := z.published()
	known := namesOf(z.Origin, records)
	for _, r := range records {
		if reason := known.keepsFromLoading(r); reason != "" {
			fmt.Fprintf(&b, "; left out, %s: ", reason)
		}
		fmt.Fprintf(&b, "%s\t%d\tIN\t%s\t%s\n", r.Name, r.TTL, r.Type, r.line())
	}
	return b.String()
}

// published are the records and those of the name servers, in their normal
// form, sorted, each once.
func (z Zone) published() []Record {
	servers := z.NameServers
	if len(servers) == 0 {
		servers = []string{z.Primary}
	}
	var all []Record
	for _, server := range servers {
		all = append(all, Record{Name: Apex, Type: NS, Data: server, TTL: z.TTL})
	}
	all = append(all, z.Records...)
	for i, r := range all {
		all[i].Name, all[i].Data = Full(r.Name, z.Origin), Normal(r.Type, r.Data, z.Origin)
		all[i].TTL = cmp.Or(r.TTL, z.TTL)
	}
	slices.SortStableFunc(all, z.order)
	all = slices.CompactFunc(all, func(a, b Record) bool { return z.order(a, b) == 0 })
	oneTTL(all)
	return all
}

// oneTTL gives the records of a name and type, which stand together, the least
// TTL among them: resolvers keep them as one (RFC 2181, 5.2).
func oneTTL(sorted []Record) {
	type set struct{ name, recordType string }
	least := map[set]int64{}
	for _, r := range sorted {
		at := set{r.Name, r.Type}
		if ttl, known := least[at]; !known || r.TTL < ttl {
			least[at] = r.TTL
		}
	}
	for i, r := range sorted {
		sorted[i].TTL = least[set{r.Name, r.Type}]
	}
}

// order puts the apex first.
func (z Zone) order(a, b Record) int {
	outside := func(r Record) int { return min(1, len(r.Name)-len(z.Origin)) }
	return cmp.Or(
		cmp.Compare(outside(a), outside(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type),
		cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Data, b.Data))
}

// line is the data as a master file writes it.
func (r Record) line() string {
	switch r.Type {
	case MX, SRV:
		return fmt.Sprint(r.Priority, " ", r.Data)
	case TXT:
		return quoted(r.Data)
	}
	return r.Data
}

// quoted are the strings of a text, each in quotes.
func quoted(text string) string {
	pieces := Strings(text)
	for i, piece := range pieces {
		pieces[i] = `"` + escape(piece) + `"`
	}
	return strings.Join(pieces, " ")
}

func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03d`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
