package field_test

import (
	"fmt"
	"strings"
	"testing"

	"hostpanel/domain/field"
)

func TestRules(t *testing.T) {
	label63 := strings.Repeat("a", 63)
	tests := []struct {
		name string
		rule field.Rule
		good map[string]string // what is sent → what is kept
		bad  []string
	}{
		{
			"domain", field.Domain,
			map[string]string{
				"Example.COM.": "example.com", "münchen.de": "xn--mnchen-3ya.de", "a.bc": "a.bc",
				label63 + ".com": label63 + ".com", "1.2.x3": "1.2.x3", "xn--mnchen-3ya.de": "xn--mnchen-3ya.de",
				"xn--ls8h.example": "xn--ls8h.example", "local.example": "local.example",
			},
			[]string{
				"com", "a.b", "-a.com", "a-.com", "a..com", "a_b.com", "192.0.2.1", label63 + "a.com", "ex ample.com",
				"*.example.com", strings.Repeat("a.", 127) + "com", "xn--a.example", "xn--99999999.example", "a.xn--zzzz",
			},
		},
		{
			"dns_name", field.DNSName,
			map[string]string{"@": "@", "WWW": "www", "_dmarc": "_dmarc", "*": "*", "*.a": "*.a", "_x._tcp": "_x._tcp"},
			[]string{"a.*", "*a", "a..b", "-a", "a b", "_xn--a", "*.xn--a"},
		},
		{
			"fqdn_dot", field.FullName,
			map[string]string{"ns1.example.com": "ns1.example.com.", "NS1.example.com.": "ns1.example.com."},
			[]string{"@", "a..b", "a b."},
		},
		{
			"username", field.Username,
			map[string]string{"ana": "ana", "A.b_c-9": "A.b_c-9"},
			[]string{"_a", ".a", "a b", strings.Repeat("a", 33)},
		},
		{"color", field.Color, map[string]string{"#4F46e5": "#4F46e5"}, []string{"4F46E5", "#FFF", "#GGGGGG"}},
		{"path", field.Path, map[string]string{"/": "/", "/a b/c.d": "/a b/c.d"}, []string{"a", "/../x", "//a", "/ü"}},
		{
			"email", field.Email,
			map[string]string{
				"Ana@Example.COM": "Ana@example.com", "a+b@x.example": "a+b@x.example",
				"admin@localhost": "admin@localhost", "a@bücher.example": "a@xn--bcher-kva.example",
			},
			[]string{
				"ana", "@x.com", "a@", "a@b", "a b@x.com", "a..b@x.com", ".a@x.com", "Ana <a@x.com>",
				strings.Repeat("a", 65) + "@x.com", "ana@xn--a.example",
			},
		},
		{
			"https_url", field.HTTPSURL,
			map[string]string{
				"https://example.com/a?b#c": "https://example.com/a?b#c",
				"http://localhost:8080/":    "http://localhost:8080/", "http://127.0.0.1/": "http://127.0.0.1/",
				"https://203.0.113.9/": "https://203.0.113.9/",
			},
			[]string{
				"http://example.com/", "https://u:p@example.com/", "https://10.0.0.1/", "https://[fe80::1]/",
				"https://intern/", "javascript:alert(1)", "//example.com", "https:example.com", "https://exa mple.com",
			},
		},
		{
			"ip", field.IP,
			map[string]string{"192.0.2.1": "192.0.2.1", "2001:DB8::0001": "2001:db8::1"},
			[]string{"*", "192.0.2", "fe80::1%eth0"},
		},
		{"ip or any", field.IPOrAny, map[string]string{"*": "*", "192.0.2.1": "192.0.2.1"}, []string{"x", "**"}},
		{"language", field.Language, map[string]string{"es": "es", "pt-BR": "pt-BR"}, []string{"ES", "spa", "es-es"}},
		{"phone", field.Phone, map[string]string{"+34 (91) 1.2-3": "+34 (91) 1.2-3"}, []string{"12a", "1/2"}},
		{"slug", field.Slug, map[string]string{"basic-1_a": "basic-1_a"}, []string{"a b", "ñ"}},
		{"plain", field.Plain, map[string]string{"Ana & Ño": "Ana & Ño"}, []string{"<b>", "a😀"}},
		{
			"origin", field.Origin,
			map[string]string{
				"Example.com": "example.com", "*.example.com": "*.example.com", "localhost": "localhost",
				"127.0.0.1": "127.0.0.1", "https://example.com:8443": "https://example.com:8443",
				"http://localhost:3000":  "http://localhost:3000",
				"HTTPS://Bücher.example": "https://xn--bcher-kva.example",
			},
			[]string{
				"*", "*.com", "https://example.com/", "ftp://example.com", "example.com/x", "https://u@example.com",
				"null", "*.*.example.com",
			},
		},
	}
	for _, test := range tests {
		for sent, kept := range test.good {
			if got, wrong := check(test.rule, sent); wrong != "" || got != kept {
				t.Errorf("%s: %q is kept as %q %s, not as %q", test.name, sent, got, wrong, kept)
			}
		}
		for _, sent := range test.bad {
			if _, wrong := check(test.rule, sent); !strings.Contains(wrong, test.rule.Message) {
				t.Errorf("%s: %q was taken %s", test.name, sent, wrong)
			}
		}
	}
}

// Some texts have the form of a rule, and there is more to say of them.
func TestARuleTellsWhyItExcludesASort(t *testing.T) {
	const notDNS = "x: Names that end in .local or .onion are not in DNS."
	const noHost = "x: A site cannot have an unspecified, broadcast, multicast or link-local address."
	const unseen = "x: Control characters and marks of direction are not allowed."
	for _, c := range []struct {
		rule field.Rule
		sent string
		want string
	}{
		{field.Domain, "Printer.LOCAL.", notDNS},
		{field.Domain, "shop.exampleonion.onion", notDNS},
		{field.Domain, "local", "x: Enter a valid domain name."},
		{field.Domain, "onion.example", ""},
		{field.IPOrAny, "0.0.0.0", noHost},
		{field.IPOrAny, "::", noHost},
		{field.IPOrAny, "::ffff:0.0.0.0", noHost},
		{field.IPOrAny, "255.255.255.255", noHost},
		{field.IPOrAny, "224.0.0.1", noHost},
		{field.IPOrAny, "ff02::1", noHost},
		{field.IPOrAny, "169.254.169.254", noHost},
		{field.IPOrAny, "fe80::1", noHost},
		{field.IPOrAny, "10.0.0.7", ""},
		{field.IPOrAny, "fd00::7", ""},
		{field.Plain, "Ana\u202eanA", unseen},
		{field.Plain, "Ana\u2066\u2069", unseen},
		{field.Plain, "A\u200eB\u200f", unseen},
		{field.Plain, "A\u061cB", unseen},
		{field.Plain, "Ana\tB", unseen},
		{field.Plain, "A\u001b[1m", unseen},
		{field.Plain, "A\u007fB", unseen},
		{field.Plain, "A\u009bB", unseen},
		{field.Plain, "A\nB", "x: Line breaks are not allowed."},
		{field.Plain, "שלום, عائشة & नेहा\u200d", ""},
		{field.Visible, "<Ana> 😀", ""},
		{field.Visible, "Ana\u202d", unseen},
	} {
		if _, wrong := check(c.rule, c.sent); wrong != c.want {
			t.Errorf("%q: %q, not %q", c.sent, wrong, c.want)
		}
	}
}

func check(r field.Rule, sent string) (kept, wrong string) {
	set := field.Set{field.Text("x", &kept).Is(r)}
	body := string(field.AppendText([]byte(`{"x":`), sent)) + `}`
	if _, err := set.DecodeJSON([]byte(body), field.Create); err != nil {
		wrong = err.Error()
	}
	return kept, wrong
}

// Turning a name into A-labels takes longer than its length: what is too long
// anyway is not turned.
func TestTextsThatAreTooLongAreNotTidied(t *testing.T) {
	tidied := false
	rule := field.Rule{Message: "no", Max: 10, Tidy: func(s string) string { tidied = true; return s }, Holds: func(string) bool {
		return true
	}}
	if _, wrong := check(rule, strings.Repeat("x", 1000)); wrong != "x: Ensure this field has no more than 10 characters." || tidied {
		t.Error(wrong, tidied)
	}
}

// A rule may have more to say than one message.
func TestARuleMaySayEverythingThatIsWrong(t *testing.T) {
	s, lines := "", field.Rule{Problems: func(s string) (all []string) {
		for i, line := range strings.Split(s, "\n") {
			if strings.Contains(line, "url(") {
				all = append(all, fmt.Sprintf("Line %d: url() is not allowed.", i+1))
			}
		}
		return all
	}}
	set := field.Set{field.Text("css", &s).Lines().Is(lines)}
	_, err := set.DecodeJSON([]byte(`{"css":"url(\nb\nurl("}`), field.Create)
	if got := string(field.ErrorsOf(err).
		AppendJSON(nil)); got != `{"css":["Line 1: url() is not allowed.","Line 3: url() is not allowed."]}` {
		t.Error(got)
	}
	if _, err := set.DecodeJSON([]byte(`{"css":"a"}`), field.Create); err != nil {
		t.Error(err)
	}
}
