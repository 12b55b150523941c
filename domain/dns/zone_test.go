package dns_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	master "github.com/miekg/dns"
	"pgregory.net/rapid"

	"hostpanel/domain/dns"
)

var acme = dns.Zone{
	Origin: "acme.test.", Primary: "ns1.example.net.", Contact: `ada\.b.acme.test.`, Serial: 2026112101, TTL: 3600,
	NameServers: []string{"ns1.example.net.", "ns2.example.net."},
	Records: []dns.Record{
		{Name: "www", Type: dns.A, Data: "192.0.2.10"},
		{Name: "www", Type: dns.AAAA, Data: "2001:DB8::10", TTL: 300},
		{Name: "blog", Type: dns.CNAME, Data: "www"},
		{Name: "@", Type: dns.MX, Data: "mail.acme.test", Priority: 10},
		{Name: "@", Type: dns.NS, Data: "ns2.example.net"},
		{Name: "@", Type: dns.TXT, Data: `"v=spf1 mx" " -all"`},
		{Name: "k._domainkey", Type: dns.TXT, Data: `say "ñ" \ ` + strings.Repeat("k", 255)},
		{Name: "@", Type: dns.CAA, Data: `0 issue "letsencrypt.org"`},
		{Name: "_sip._tcp", Type: dns.SRV, Data: "5 5060 mail", Priority: 20},
		{Name: "mail", Type: dns.A, Data: "192.0.2.11"},
		{Name: "ptr", Type: dns.PTR, Data: "www.acme.test."},
		{Name: "*", Type: dns.A, Data: "192.0.2.12"},
	},
}

func ExampleZone_File() {
	z := acme
	z.Records = []dns.Record{
		{Name: "www", Type: dns.A, Data: "192.0.2.10", TTL: 300},
		{Name: "blog", Type: dns.CNAME, Data: "www"},
		{Name: "@", Type: dns.MX, Data: "mail.acme.test", Priority: 10},
		{Name: "@", Type: dns.TXT, Data: `"v=spf1 mx" " -all"`},
		{Name: "@", Type: dns.NS, Data: "NS2.example.net"}, // which is there already
		{Name: "_sip._tcp", Type: dns.SRV, Data: "5 5060 mail", Priority: 20},
	}
	fmt.Print(strings.ReplaceAll(z.File(), "\t", " "))
	// Output:
	// $ORIGIN acme.test.
	// $TTL 3600
	// acme.test. 3600 IN SOA ns1.example.net. ada\.b.acme.test. 2026112101 7200 540 604800 3600
	// ; left out, mail.acme.test. has no address: acme.test. 3600 IN MX 10 mail.acme.test.
	// acme.test. 3600 IN NS ns1.example.net.
	// acme.test. 3600 IN NS ns2.example.net.
	// acme.test. 3600 IN TXT "v=spf1 mx -all"
	// _sip._tcp.acme.test. 3600 IN SRV 20 5 5060 mail.acme.test.
	// blog.acme.test. 3600 IN CNAME www.acme.test.
	// www.acme.test. 300 IN A 192.0.2.10
}

var leftOut = regexp.MustCompile(`(?m)^; left out, [^:]*: `)

// leastTTL is that of all records of the name and type.
func leastTTL(z dns.Zone, of dns.Record) int64 {
	least := int64(math.MaxInt64)
	for _, r := range z.Records {
		if r.Type == of.Type && dns.Full(r.Name, z.Origin) == dns.Full(of.Name, z.Origin) {
			least = min(least, cmp.Or(r.TTL, z.TTL))
		}
	}
	if of.Type == dns.NS && dns.Full(of.Name, z.Origin) == z.Origin {
		least = min(least, z.TTL)
	}
	return least
}

// What goes out is read back, by the parser of another house, as what it was.
func TestAZoneFileIsReadBackAsTheSameRecords(t *testing.T) {
	sameRecords(t, acme)
	rapid.Check(t, func(t *rapid.T) { sameRecords(t, anyZone.Draw(t, "zone")) })
}

type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

func sameRecords(t reporter, z dns.Zone) {
	t.Helper()
	file := leftOut.ReplaceAllString(z.File(), "")
	parser := master.NewZoneParser(strings.NewReader(file), "", "acme.zone")
	var got []string
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		got = append(got, spoken(t, rr))
	}
	if err := parser.Err(); err != nil {
		t.Fatalf("the file is not understood: %v\n%s", err, file)
	}
	want := []string{fmt.Sprintf("%s SOA %d %s %s %d 7200 540 604800 3600", z.Origin, z.TTL, z.Primary, z.Contact, z.Serial)}
	for _, server := range z.NameServers {
		want = append(want, fmt.Sprintf("%s NS %d %s", z.Origin, leastTTL(z, dns.Record{Name: dns.Apex, Type: dns.NS}), server))
	}
	for _, r := range z.Records {
		ttl, data := leastTTL(z, r), dns.Normal(r.Type, r.Data, z.Origin)
		if r.Type == dns.MX || r.Type == dns.SRV {
			data = fmt.Sprint(r.Priority, " ", data)
		}
		want = append(want, fmt.Sprintf("%s %s %d %s", dns.Full(r.Name, z.Origin), r.Type, ttl, data))
	}
	if got, want := sorted(got), sorted(want); !slices.Equal(got, want) {
		t.Fatalf("the file\n%s\nsays\n%s\nwant\n%s", file, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// spoken is what a record says: of a text, the bytes on the wire.
func spoken(t reporter, rr master.RR) string {
	h := rr.Header()
	head := fmt.Sprintf("%s %s %d ", h.Name, master.TypeToString[h.Rrtype], h.Ttl)
	if h.Rrtype != master.TypeTXT {
		return head + strings.ReplaceAll(strings.TrimPrefix(rr.String(), h.String()), `\'`, "'") // which this parser alone escapes
	}
	wire := make([]byte, 1<<16)
	end, err := master.PackRR(rr, wire, 0, nil, false)
	if err != nil {
		t.Fatalf("%s does not fit into a message: %v", rr, err)
	}
	text := []byte{}
	for rest := wire[end-int(h.Rdlength) : end]; len(rest) > 0; rest = rest[1+int(rest[0]):] {
		text = append(text, rest[1:1+int(rest[0])]...)
	}
	return head + string(text)
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return slices.Compact(lines)
}

// Zones as customers keep them.
var (
	label = rapid.StringMatching(`_?[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?`)
	host  = rapid.StringMatching(`([a-z][a-z0-9-]{0,5}[a-z0-9]\.){0,3}[a-z]{2,8}\.?`)
	name  = rapid.OneOf(rapid.Just("@"), label, rapid.StringMatching(`(\*\.)?[a-z]{1,5}(\.[a-z]{1,5}){0,2}`))
	text  = rapid.StringOfN(rapid.Rune().Filter(func(r rune) bool { return !strings.ContainsRune("\r\n\x00\"", r) }), 1, 600, -1)
	data  = map[string]*rapid.Generator[string]{
		dns.A:     rapid.StringMatching(`(25[0-5]|1[0-9]{2}|[1-9]?[0-9])(\.(25[0-5]|1[0-9]{2}|[1-9]?[0-9])){3}`),
		dns.AAAA:  rapid.StringMatching(`2001:db8(:[0-9a-fA-F]{1,4}){6}|2001:DB8::[0-9a-f]{1,4}`),
		dns.CNAME: host, dns.MX: host, dns.NS: host, dns.PTR: host,
		dns.SRV: rapid.StringMatching(`[0-9]{1,4} [1-9][0-9]{0,3} ([a-z]{1,5}\.[a-z]{2,5}|\.)`),
		dns.CAA: rapid.StringMatching(`(0|128) (issue|issuewild|iodef) "[ !#-\[\]-~]{0,60}"`),
		dns.TXT: rapid.OneOf(
			text,
			rapid.Map(text, func(s string) string { return `"` + strings.ReplaceAll(s, `\`, `\\`) + `" "\"quoted\""` }),
		),
	}
	contact = rapid.StringMatching(`[A-Za-z0-9+_-]{1,20}(\.[a-z0-9]{1,5})?@[a-z]{1,10}\.[a-z]{2,5}`)
	record  = rapid.Custom(func(t *rapid.T) dns.Record {
		r := dns.Record{
			Name: name.Draw(t, "name"), Type: rapid.SampledFrom(dns.Types).Draw(t, "type"),
			TTL: rapid.Int64Range(0, 1<<31-1).Draw(t, "ttl"),
		}
		r.Data = data[r.Type].Draw(t, "data")
		r.Priority = rapid.Int64Range(0, 65535).Draw(t, "priority")
		if err := dns.CheckData(r.Type, r.Data, "acme.test."); err != nil {
			t.Fatalf("%s %q is refused: %v", r.Type, r.Data, err)
		}
		return r
	})
	anyZone = rapid.Custom(func(t *rapid.T) dns.Zone {
		return dns.Zone{
			Origin: "acme.test.", Primary: "ns1.example.net.", Contact: dns.Contact.Tidy(contact.Draw(t, "contact")), TTL: 3600,
			Serial: dns.Serial(rapid.Uint32().Draw(t, "serial")), NameServers: []string{"ns1.example.net."},
			Records: rapid.SliceOfNDistinct(record, 0, 20, said).Draw(t, "records"),
		}
	})
)

// said is what no two records of a zone say.
func said(r dns.Record) string {
	return dns.Full(r.Name, "acme.test.") + " " + r.Type + " " + dns.Normal(r.Type, r.Data, "acme.test.")
}

// A zone that names no name servers is served by its primary one.
func TestAZoneIsAlwaysServed(t *testing.T) {
	file := dns.Zone{Origin: "acme.test.", Primary: "ns1.example.net.", Contact: "hostmaster.acme.test.", Serial: 1, TTL: 60}.File()
	if !strings.Contains(file, "acme.test.\t60\tIN\tNS\tns1.example.net.\n") {
		t.Errorf("the file names no name server:\n%s", file)
	}
}

// BIND's own check takes the file; where it is not installed, the reading back
// above has to do.
func TestBINDTakesTheZoneFile(t *testing.T) {
	tool, err := exec.LookPath("named-checkzone")
	if err != nil {
		t.Log("named-checkzone is not installed: nothing is asked of BIND")
		return
	}
	path := filepath.Join(t.TempDir(), "acme.zone")
	if err := os.WriteFile(path, []byte(acme.File()), 0o600); err != nil {
		t.Fatal(err)
	}
	if answer, err := exec.CommandContext(t.Context(), tool, "-k", "fail", "-n", "fail", "acme.test", path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s\n%s", err, answer, acme.File())
	}
}
