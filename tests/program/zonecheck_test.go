//go:build system && zonecheck

package program_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	master "github.com/miekg/dns"

	"hostpanel/tests/processtest"
)

// What customers keep in zones, and what BIND has of it. "%" is the zone's
// origin.
type kept struct {
	sent map[string]any
	read string // as BIND writes it, without "IN"; "": it is not published
}

// long is a text of more than one string, with all that files treat in a
// special way. Ü stands where the string of 255 bytes ends.
var long = `v=DKIM1; p="` + strings.Repeat("k", 242) + `Ü\ñ"; ($TTL 1) @ ` + strings.Repeat("x", 300)

func record(recordType, name, data string, more ...any) map[string]any {
	r := map[string]any{"record_type": recordType, "name": name, "data": data}
	for i := 0; i < len(more); i += 2 {
		r[more[i].(string)] = more[i+1]
	}
	return r
}

// everything has each type of record, and each form of name and data.
var everything = []kept{
	{record("A", "@", "192.0.2.1"), "% 3600 A 192.0.2.1"},
	{record("A", "www", "192.0.2.2", "ttl", 300), "www.% 60 A 192.0.2.2"},
	// one time for all addresses of a name
	{record("A", "WWW.München.test", "192.0.2.3", "ttl", 60), "www.% 60 A 192.0.2.3"},
	{record("AAAA", "www.münchen.test.", "2001:DB8:0::1"), "www.% 3600 AAAA 2001:db8::1"},
	{record("AAAA", "four", "::ffff:192.0.2.4"), "four.% 3600 AAAA ::ffff:192.0.2.4"},
	{record("A", "*", "192.0.2.5"), "*.% 3600 A 192.0.2.5"},
	{record("CNAME", "*.shop", "www"), "*.shop.% 3600 CNAME www.%"},
	{record("CNAME", "tienda-ñ", "bücher.example"), "xn--tienda--b0a.% 3600 CNAME xn--bcher-kva.example."},
	{record("CNAME", "_dnsauth", "_x.ca.example."), "_dnsauth.% 3600 CNAME _x.ca.example."},
	{record("MX", "@", "mail", "priority", 5), "% 3600 MX 5 mail.%"},
	{record("MX", "@", "mx.bücher.example"), "% 3600 MX 10 mx.xn--bcher-kva.example."},
	{record("MX", "no-mail", "."), "no-mail.% 3600 MX 10 ."},
	{record("A", "mail", "192.0.2.6"), "mail.% 3600 A 192.0.2.6"},
	{record("TXT", "@", "v=spf1 mx -all"), "% 3600 TXT v=spf1 mx -all"},
	{record("TXT", "@", `"in two" " strings, \"quoted\" \\ \195\177"`), `% 3600 TXT in two strings, "quoted" \ ñ`},
	{record("TXT", "k._domainkey", long), "k._domainkey.% 3600 TXT " + long},
	{
		record("TXT", "wörter", "; a comment? $INCLUDE /etc/passwd (no)"),
		"xn--wrter-jua.% 3600 TXT ; a comment? $INCLUDE /etc/passwd (no)",
	},
	{
		record("SRV", "_sip._tcp", "5 5060 sip.other.example", "priority", 7),
		"_sip._tcp.% 3600 SRV 7 5 5060 sip.other.example.",
	},
	{record("SRV", "_imap._tcp", "0 143 mail"), "_imap._tcp.% 3600 SRV 0 0 143 mail.%"},
	{record("SRV", "_pop3._tcp", "0 0 ."), "_pop3._tcp.% 3600 SRV 0 0 0 ."},
	{record("CAA", "@", `0 issue "ca.example; account=7"`), `% 3600 CAA 0 issue "ca.example; account=7"`},
	{record("CAA", "@", `128 IODEF "mailto:sec@ca.example"`), `% 3600 CAA 128 iodef "mailto:sec@ca.example"`},
	{record("CAA", "none", `0 issuewild ""`), `none.% 3600 CAA 0 issuewild ""`},
	{record("CAA", "none", `0 issuemail ";"`), `none.% 3600 CAA 0 issuemail ";"`},
	{record("NS", "@", "ns.partner.example"), "% 3600 NS ns.partner.example."},
	{record("NS", "sub", "ns.sub.münchen.test"), "sub.% 3600 NS ns.sub.%"},
	{record("A", "ns.sub", "192.0.2.7"), "ns.sub.% 3600 A 192.0.2.7"},
	{record("PTR", "ptr", "www"), "ptr.% 3600 PTR www.%"},
	{record("A", "off", "192.0.2.8", "is_active", false), ""},
}

// slips are what BIND would not load the zone for.
var slips = []kept{
	{record("MX", "@", "nowhere"), ""},
	{record("NS", "@", "ns9"), ""},
	{record("CNAME", "alias", "x.example"), "alias.% 3600 CNAME x.example."},
	{record("NS", "@", "alias"), ""},
	{record("A", "www", "192.0.2.1"), "www.% 3600 A 192.0.2.1"},
}

// BIND loads what customers have put into their zones, and reads in it what
// they have put in (docs/hosting.md, "Zone file"). `make zonecheck` runs this.
func TestBINDLoadsWhatCustomersHavePutIntoTheirZones(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	h.Env = append(h.Env, "HOSTPANEL_NAMESERVERS=ns1.panel.test,ns2.panel.test")
	r := h.Start()
	defer r.Stop()
	as := []string{
		"Authorization", "Bearer " + r.SignIn(h.Demo().TenantAdmin).Field(t, "access"), "Content-Type",
		processtest.AsJSON, "Prefer", "respond-async",
	}
	strict := []string{"-i", "local", "-k", "fail", "-m", "fail", "-n", "fail", "-M", "fail", "-S", "fail", "-r", "fail"}
	for _, zone := range []struct {
		origin  string
		records []kept
	}{
		{"münchen.test", everything},
		{"2.0.192.in-addr.arpa", []kept{{
			record("PTR", "1", "www.bücher.example"),
			"1.% 3600 PTR www.xn--bcher-kva.example.",
		}, {
			record("NS", "0/25", "ns.partner.example"), "0/25.% 3600 NS ns.partner.example.",
		}, {
			record("CNAME", "2", "2.0/25.2.0.192.in-addr.arpa"), "2.% 3600 CNAME 2.0/25.%",
		}}},
		{"0/25.3.0.192.in-addr.arpa", []kept{{
			record("PTR", "2", "www.acme.test"), "2.% 3600 PTR www.acme.test.",
		}}},
		{"_msdcs.acme.test", []kept{{
			record("SRV", "_ldap._tcp.dc", "100 389 dc1.acme.test"),
			"_ldap._tcp.dc.% 3600 SRV 0 100 389 dc1.acme.test.",
		}}},
		{"slips.test", slips},
		{"empty.test", nil},
	} {
		t.Run(zone.origin, func(t *testing.T) {
			origin, id := zoneOf(r, t, as, map[string]any{"origin": zone.origin}, zone.records)
			want := []string{origin + " 3600 NS ns1.panel.test.", origin + " 3600 NS ns2.panel.test."}
			for _, k := range zone.records {
				if k.read != "" {
					want = append(want, strings.Replace(strings.ReplaceAll(k.read, ".%", "."+origin), "%", origin, 1))
				}
			}
			got := bindReads(t, origin, h.Must("zone", fmt.Sprint(id)), strict...)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Errorf("BIND reads\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// zoneOf makes a zone over the API and tells its origin and its number.
func zoneOf(r *processtest.Process, t *testing.T, as []string, asked map[string]any, records []kept) (string, int64) {
	t.Helper()
	t.Helper()
	post := func(collection string, body map[string]any) processtest.Answer {
		text, err := json.Marshal(body)
		must(t, err)
		return r.Ask(201, "POST", hostingAPI+collection+"/", string(text), as...)
	}
	var zone struct {
		ID     int64
		Origin string
	}
	must(t, json.Unmarshal([]byte(post("dns-zones", asked).Body), &zone))
	for _, k := range records {
		k.sent["zone"] = zone.ID
		post("dns-records", k.sent)
	}
	return zone.Origin, zone.ID
}

// bindReads are the records that BIND's check writes back, but for the SOA,
// sorted; anything that it complains of is a mistake.
func bindReads(t *testing.T, origin, file string, check ...string) (lines []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "zone")
	must(t, os.WriteFile(path, []byte(file), 0o600))
	var dump, said bytes.Buffer
	tool := exec.CommandContext(t.Context(), "named-checkzone", append(check, "-D", "-o", "-", origin, path)...)
	tool.Stdout, tool.Stderr = &dump, &said
	if err := tool.Run(); err != nil || strings.Count(said.String(), "\n") != 2 ||
		!strings.HasSuffix(said.String(), "\nOK\n") {
		t.Fatalf("%v: %s\n%s", err, said.String(), file)
	}
	parser := master.NewZoneParser(&dump, "", "")
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		if h := rr.Header(); h.Rrtype != master.TypeSOA {
			lines = append(lines, fmt.Sprint(h.Name, " ", h.Ttl, " ", master.TypeToString[h.Rrtype], " ", bindData(t, rr)))
		}
	}
	must(t, parser.Err())
	slices.Sort(lines)
	return lines
}

// bindData is what a record says; of a text, what is on the wire.
func bindData(t *testing.T, rr master.RR) string {
	t.Helper()
	if rr.Header().Rrtype != master.TypeTXT {
		return strings.TrimPrefix(rr.String(), rr.Header().String())
	}
	wire := make([]byte, 1<<14)
	end, err := master.PackRR(rr, wire, 0, nil, false)
	must(t, err)
	var text []byte
	for rest := wire[end-int(rr.Header().Rdlength) : end]; len(rest) > 0; rest = rest[1+int(rest[0]):] {
		text = append(text, rest[1:1+int(rest[0])]...)
	}
	return string(text)
}

// BIND loads the zone files that ISPConfig writes of the same records and of hostile
// texts, by the check that ISPConfig makes of them. What it would not load is refused.
func TestBINDLoadsWhatISPConfigWritesOfThem(t *testing.T) {
	t.Parallel()
	h, d, fake := onISPConfig(t)
	ticking(t, fake)
	r := h.Serving("--listen", "127.0.0.1:0")
	defer r.Stop()
	as := []string{
		"Authorization", "Bearer " + r.SignIn(d.Superuser).Field(t, "access"), "Content-Type",
		processtest.AsJSON, "Prefer", "respond-async",
	}
	var tenant struct{ ID int64 }
	must(t, json.Unmarshal([]byte(r.Ask(201, "POST", hostingAPI+"tenants/",
		`{"name":"Hostile","email":"hostile@example.com"}`, as...).Body), &tenant))
	var texts []kept
	for i, text := range hostileData["TXT"] {
		texts = append(texts, kept{record("TXT", fmt.Sprintf("t%d", i), text), ""})
	}
	for _, text := range []string{
		`x" ( "y`, `\`, `a \" b"`, "; no comment", "( open", "a" + strings.Repeat(`""`, 300),
		strings.Repeat(`\`, 511), strings.Repeat("é", 900),
	} {
		texts = append(texts, kept{record("TXT", fmt.Sprintf("t%d", len(texts)), text), ""})
	}
	origin, id := zoneOf(r, t, as, map[string]any{"origin": "münchen.test", "tenant": tenant.ID},
		slices.Concat(everything, texts))
	processtest.Eventually(t, "the engine has all records", func() bool {
		list := r.Ask(200, "GET", fmt.Sprintf("%sdns-zones/%d/records/?page_size=100", hostingAPI, id), "", as...).Body
		return !strings.Contains(list, `"sync_status":"pending"`)
	})
	path := filepath.Join(t.TempDir(), "zone")
	must(t, os.WriteFile(path, []byte(fake.Zone(origin)), 0o600))
	if said, err := exec.CommandContext(t.Context(), "named-checkzone", origin, path).CombinedOutput(); err != nil ||
		!strings.HasSuffix(string(said), "\nOK\n") {
		t.Errorf("%v: %s\n%s", err, said, fake.Zone(origin))
	}
	if written := strings.Count(fake.Zone(origin), "\n"); written < len(everything)+len(texts) {
		t.Errorf("%d lines are not all records", written)
	}
}
