//go:build system

package program_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	master "github.com/miekg/dns"

	"hostpanel/adapters/engine/enginetest"
	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/domain/dns"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/tests/processtest"
)

// hostileData is data of records, some of it right and in an unusual form.
var hostileData = map[string][]string{
	dns.A: {"192.0.2.1", "192.0.2.001", "0x7f.1"}, dns.AAAA: {"2001:DB8:0::1", "::ffff:192.0.2.4", "fe80::1%eth0"},
	dns.CNAME: {"www", "_x.ca.example.", "r3---sn-x.example.com", "UPPER.example"}, dns.MX: {
		".", "mail", "MX.Example.COM",
		"a_b.example",
	},
	dns.NS: {"ns.partner.example", "ns9"}, dns.SRV: {
		"5 5060 sip.other.example", "0 0 .", "05 143 mail",
		"1 2 " + strings.Repeat("x", 60) + ".long.example.",
	},
	dns.CAA: {
		`0 issue "ca.example; account=7"`, `128 IODEF "mailto:sec@ca.example"`, `0 issuewild ""`,
		`0 issue "a\"b"`,
	}, dns.PTR: {"www", "a_b.example."},
	dns.TXT: {
		`"in two" " strings, \"quoted\" \\ \195\177"`, "v=spf1 mx -all", `"  kept blanks  "`,
		"v=DKIM1; p=" + strings.Repeat("k", 736), strings.Repeat("😀", 400),
	},
}

// Each text field of each kind takes or refuses each hostile value. What was taken is
// at the engine as it was asked for: a comparison finds no difference, no resource
// fails, and the engine's zones load.
func TestHostileValuesTravelOrAreRefused(t *testing.T) {
	t.Parallel()
	if len(enginetest.Hostile) < 34 {
		t.Errorf("only %d hostile values", len(enginetest.Hostile))
	}
	h, _, fake := onISPConfig(t)
	ticking(t, fake)
	r := h.Serving("--listen", "127.0.0.1:0")
	l := &livingKinds{Process: r, ids: map[string]string{}}
	l.headers = []string{
		"Authorization", "Bearer " + r.SignIn(h.Demo().Superuser).Field(t,
			"access"), "Content-Type", processtest.AsJSON, "Prefer", "respond-async",
	}
	l.areMade()
	l.recordsAreTold()
	l.areTold()
	l.agrees("after all hostile values")
	zonesLoad(t, fake)
	r.Stop()
}

// areTold sends each value in each text field of each kind: in a change, or in a new
// resource where the field cannot change. All kinds are told at the same time.
func (l *livingKinds) areTold() {
	l.T.Helper()
	var all sync.WaitGroup
	for _, kind := range ofAPI() {
		all.Go(func() {
			for _, f := range kind.New().Fields() {
				if !f.IsReadOnly() && isText(f) && f.OneOf == nil {
					l.fieldIsTold(kind, f.Name)
				}
			}
		})
	}
	all.Wait()
}

func (l *livingKinds) fieldIsTold(kind hosting.Kind, name string) {
	taken := 0
	for i, value := range enginetest.Hostile {
		if l.isTold(kind, name, i, value) {
			taken++
		}
	}
	l.T.Logf("%s of a %s takes %d of %d", name, kind.Name, taken, len(enginetest.Hostile))
}

// isTold sends a value in one field.
func (l *livingKinds) isTold(kind hosting.Kind, name string, at int, value string) (taken bool) {
	body := map[string]json.RawMessage{name: field.AppendText(nil, value)}
	method, path := "PATCH", l.path(kind)
	if slices.Contains(fixedNames, name) || kind.Verbs&hosting.Patch == 0 {
		method, path = "POST", "/hosting/api/rest/"+kind.Collection+"/"
		for other, usual := range l.another(kind, name, at) {
			if _, given := body[other]; !given {
				body[other] = usual
			}
		}
	}
	return l.isAnswered(method, path, name, body)
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
func (l *livingKinds) another(kind hosting.Kind, told string, at int) (body map[string]json.RawMessage) {
	if err := json.Unmarshal([]byte(l.filled(wholeLife[kind.Name].make)), &body); err != nil {
		l.T.Error(err)
	}
	for _, name := range []string{"domain", "origin", "name", "username", "local_part", "source"} {
		if _, has := body[name]; has && kind.Name != "dns_record" {
			body[name] = fmt.Appendf(nil, `"h%d%.2s%s"`, at, told, map[bool]string{
				true:  ".life.example",
				false: "",
			}[name == "domain" || name == "origin"])
		}
	}
	return body
}

// isAnswered sends a request whose values the panel takes or refuses. What it has
// taken is read back as it was sent, but for the forms that a field brings values to.
func (l *livingKinds) isAnswered(method, path, told string, body map[string]json.RawMessage) (taken bool) {
	text, err := json.Marshal(body)
	if err != nil {
		l.T.Error(err)
	}
	a, err := processtest.Call(l.T.Context(), method, l.Base+path, string(text), l.headers...)
	if err != nil {
		l.T.Error(err)
		return false
	}
	if !slices.Contains([]int{http.StatusOK, http.StatusCreated, http.StatusBadRequest, http.StatusConflict}, a.Status) {
		l.T.Errorf("%s %s %s: %d %s", method, path, text, a.Status, a.Body)
	}
	if a.Status >= http.StatusBadRequest {
		return false
	}
	l.isKept(path, told, body[told], a.Body)
	return true
}

// isKept compares what was sent with what an answer shows. A form that a field has
// brought the value to has to be right in itself: sent again, it stays.
func (l *livingKinds) isKept(path, told string, value json.RawMessage, answer string) {
	var kept map[string]json.RawMessage
	var sent, read string
	if err := json.Unmarshal([]byte(answer), &kept); err != nil {
		l.T.Errorf("%s: %v", path, err)
	}
	_, shown := kept[told]
	if !shown || json.Unmarshal(value, &sent) != nil || json.Unmarshal(kept[told], &read) != nil ||
		strings.TrimSpace(sent) == read || !l.isOne(path) {
		return
	}
	a, err := processtest.Call(l.T.Context(), "PATCH", l.Base+path, fmt.Sprintf("{%q:%s}", told, kept[told]), l.headers...)
	var again map[string]json.RawMessage
	if err != nil || json.Unmarshal([]byte(a.Body), &again) != nil || string(again[told]) != string(kept[told]) {
		l.T.Errorf("%s: %q was sent as %s, %q was kept, and then answered %s, %v", path, sent, told, read, a.Body, err)
	}
}

// isOne tells whether a path is that of one resource, and not of its list.
func (l *livingKinds) isOne(path string) bool {
	return slices.ContainsFunc(ofAPI(), func(k hosting.Kind) bool { return l.path(k) == path })
}

func (l *livingKinds) recordsAreTold() {
	l.T.Helper()
	for recordType, all := range hostileData {
		for i, data := range slices.Concat(all, enginetest.Hostile) {
			l.isAnswered("POST", "/hosting/api/rest/dns-records/", "", map[string]json.RawMessage{
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
