package ispconfig_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	master "github.com/miekg/dns"
)

// hostileTexts are texts that the quotes, the cuts, the character set or the syntax
// of a zone file could spoil.
func hostileTexts() []string {
	all := []string{
		"v=spf1 mx -all", `x" ( "y`, `""quoted""`, `say "a \" b"`, `ends in \`, `\`, `\\"\\"`, `\065\300\9`,
		"; no comment", "$INCLUDE /etc/passwd", "( open",
		"@ IN NS evil.test.", "  blanks  around  ", "\ttab\x01\x7f", "Ünïcödé, 漢字 and 😀",
		"%s %00 ${x} {tmpl_var name='data'} <tmpl_if name='x'>", "<script>alert(1)</script>",
		"' OR 1=1 --", strings.Repeat("é", 300), strings.Repeat(`"`, 512), strings.Repeat(`\`, 511),
		strings.Repeat("😀", 500), strings.Repeat("x", 4096),
		"v=DKIM1; k=rsa; p=" + strings.Repeat("k", 736),
	}
	for at := range 12 { // something special at each place near a cut
		for _, special := range []string{`""`, `\`, "é", "\x01"} {
			all = append(all, strings.Repeat("a", 246+at)+special+strings.Repeat("b", 250)+special+special+strings.Repeat("c", 249))
		}
	}
	return all
}

func randomText(random *rand.Rand) string {
	alphabet := []string{`\`, `"`, `"`, "a", "9", " ", "é", "😀", ";", "\x02"}
	var b strings.Builder
	for range 1 + random.IntN(700) {
		b.WriteString(alphabet[random.IntN(len(alphabet))])
	}
	return b.String()
}

// served is the text that the engine's zone file has at a name.
func (w *world) served(origin, name string) string {
	w.Helper()
	parser := master.NewZoneParser(strings.NewReader(w.fake.Zone(origin)), origin, "")
	var text []byte
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		if rr.Header().Name != name {
			continue
		}
		wire := make([]byte, 1<<16)
		end, err := master.PackRR(rr, wire, 0, nil, false)
		if err != nil {
			w.Fatal(err)
		}
		for rest := wire[end-int(rr.Header().Rdlength) : end]; len(rest) > 0; rest = rest[1+int(rest[0]):] {
			text = append(text, rest[1:1+int(rest[0])]...)
		}
	}
	if err := parser.Err(); err != nil {
		w.Fatalf("the zone does not load: %v", err)
	}
	return string(text)
}

// A row that others wrote, or an earlier version without escapes, is read as it is
// served.
func TestTextsAreReadAsTheyAreServed(t *testing.T) {
	w := inhabited(t)
	for data, text := range map[string]string{
		`x" "y`: "xy", `é raw`: "é raw", `a\"b\"`: `a"b"`, `" "`: "", `a" b "c`: `"a" b "c"`, `open"`: `"open""`, `end\`: `"end\"`,
		strings.Repeat("a", 254) + `\"z`: strings.Repeat("a", 254) + `" z`,
	} {
		w.fake.Tell(
			"dns_txt_add",
			fmt.Sprintf(
				`{"client_id": 1, "params": {"server_id": 1, "zone": 1, "name": "raw", "type": "TXT", "data": %q, `+
					`"ttl": 60, "active": "y"}}`,
				data,
			),
		)
		all, err := w.engine.List(t.Context(), "dns_record", w.client)
		if err != nil {
			t.Fatal(err)
		}
		last := all[len(all)-1]
		if want := values("data", text)["data"]; string(last.Values["data"]) != string(want) || string(last.Values["name"]) != `"raw"` {
			t.Errorf("%q is read as %s", data, last.Values["data"])
		}
	}
}
