package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	master "github.com/miekg/dns"

	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/domain/dns"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// hostile are values that quotes, escapes, character sets, templates, SQL, shells or
// the lengths of columns could spoil on their way to an engine and back.
var hostile = []string{
	`O'Neill "the \ one"`, `x" ( "y`, "' OR 1=1; -- <b>bold</b>", "emoji 😀 and 漢字 ñ", "%s %00 $(id) ${HOME} {tmpl_var name='x'}", "line\r\nbreak", "  tab\tand\x7fcontrol ",
	"_x.life.example", "UPPER.Life.Example", "A.b+c@life.example", "::FFFF:192.0.2.7", "/ñ/../ü", strings.Repeat("é", 200), "Pässwörd-漢-1",
}

// hostileData is data of records, some of it right and in an unusual form.
var hostileData = map[string][]string{
	dns.A: {"192.0.2.1", "192.0.2.001", "0x7f.1"}, dns.AAAA: {"2001:DB8:0::1", "::ffff:192.0.2.4", "fe80::1%eth0"},
	dns.CNAME: {"www", "_x.ca.example.", "r3---sn-x.example.com", "UPPER.example"}, dns.MX: {".", "mail", "MX.Example.COM", "a_b.example"},
	dns.NS: {"ns.partner.example", "ns9"}, dns.SRV: {"5 5060 sip.other.example", "0 0 .", "05 143 mail", "1 2 " + strings.Repeat("x", 60) + ".long.example."},
	dns.CAA: {`0 issue "ca.example; account=7"`, `128 IODEF "mailto:sec@ca.example"`, `0 issuewild ""`, `0 issue "a\"b"`}, dns.PTR: {"www", "a_b.example."},
	dns.TXT: {`"in two" " strings, \"quoted\" \\ \195\177"`, "v=spf1 mx -all", `"  kept blanks  "`, "v=DKIM1; p=" + strings.Repeat("k", 736), strings.Repeat("😀", 400)},
}

// Each text field of each kind takes or refuses each hostile value. What was taken is
// at the engine as it was asked for: a comparison finds no difference, no resource
// fails, and the engine's zones load.
func TestHostileValuesTravelOrAreRefused(t *testing.T) {
	t.Parallel()
	h, _, fake := onISPConfig(t)
	ticking(t, fake)
	r := h.serving("--listen", "127.0.0.1:0")
	l := &livingKinds{running: r, ids: map[string]string{}}
	l.headers = []string{
		"Authorization", "Bearer " + r.signIn(h.demo().Superuser).field(t, "access"), "Content-Type", asJSON, "Prefer", "respond-async",
	}
	l.areMade()
	l.recordsAreTold()
	for i, value := range hostile {
		l.isTold(i, value)
	}
	l.agrees("after all hostile values")
	zonesLoad(t, fake)
	r.stop()
}

// isTold sends a value in each text field of each kind: in a change, or in a new
// resource where the field cannot change.
func (l *livingKinds) isTold(at int, value string) {
	l.t.Helper()
	for _, kind := range ofAPI() {
		if kind.Shared || kind.Collection == "whitelabel" {
			continue
		}
		for _, f := range kind.New().Fields() {
			if f.IsReadOnly() || !isText(f) {
				continue
			}
			body := map[string]json.RawMessage{f.Name: field.AppendText(nil, value)}
			method, path := "PATCH", l.path(kind)
			if slices.Contains(fixedNames, f.Name) || kind.Verbs&hosting.Patch == 0 {
				method, path = "POST", "/hosting/api/rest/"+kind.Collection+"/"
				for name, usual := range l.another(kind, at) {
					if _, given := body[name]; !given {
						body[name] = usual
					}
				}
			}
			l.isAnswered(method, path, body)
		}
	}
}

// fixedNames are fields that a change leaves alone.
var fixedNames = []string{"username", "local_part", "source", "origin"}

func isText(f field.Field) bool {
	switch f.Value().(type) {
	case string, []string:
		return true
	}
	return false
}

// another is a further resource of a kind, as it is usually asked for.
func (l *livingKinds) another(kind hosting.Kind, at int) (body map[string]json.RawMessage) {
	l.t.Helper()
	if err := json.Unmarshal([]byte(l.filled(wholeLife[kind.Name].make)), &body); err != nil {
		l.t.Fatal(err)
	}
	for _, name := range []string{"domain", "origin", "name", "username", "local_part", "source"} {
		if _, has := body[name]; has && kind.Name != "dns_record" {
			body[name] = fmt.Appendf(nil, `"h%d%s"`, at, map[bool]string{true: ".life.example", false: ""}[name == "domain" || name == "origin"])
		}
	}
	return body
}

func (l *livingKinds) isAnswered(method, path string, body map[string]json.RawMessage) {
	l.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		l.t.Fatal(err)
	}
	a, err := call(l.t.Context(), method, l.base+path, string(text), l.headers...)
	if err != nil {
		l.t.Fatal(err)
	}
	if !slices.Contains([]int{http.StatusOK, http.StatusCreated, http.StatusBadRequest, http.StatusConflict}, a.status) {
		l.t.Errorf("%s %s %s: %d %s", method, path, text, a.status, a.body)
	}
}

func (l *livingKinds) recordsAreTold() {
	l.t.Helper()
	for recordType, all := range hostileData {
		if recordType == dns.TXT {
			all = append(all, hostile...)
		}
		for i, data := range all {
			l.isAnswered("POST", "/hosting/api/rest/dns-records/", map[string]json.RawMessage{
				"zone": json.RawMessage(l.ids["dns_zone"]), "record_type": field.AppendText(nil, recordType),
				"name": fmt.Appendf(nil, `"h%d-%s"`, i, strings.ToLower(recordType)), "data": field.AppendText(nil, data),
			})
		}
	}
	l.agrees("with hostile records")
}

// zonesLoad reads all of the engine's zone files.
func zonesLoad(t *testing.T, fake *ispconfigtest.Engine) {
	t.Helper()
	zones := fake.Rows("dns_soa", "active", "Y")
	if len(zones) == 0 {
		t.Error("the engine has no zones")
	}
	for _, zone := range zones {
		file := fake.Zone(zone["origin"])
		parser := master.NewZoneParser(strings.NewReader(file), zone["origin"], "")
		records := 0
		for _, ok := parser.Next(); ok; _, ok = parser.Next() {
			records++
		}
		if err := parser.Err(); err != nil || records < 2 {
			t.Errorf("%s: %d records, %v\n%s", zone["origin"], records, err, file)
		}
	}
}
