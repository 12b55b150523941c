package dns_test

import (
	"errors"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/dns"
)

// Each type of record: what is taken, with its normal form, and what is refused.
func TestDataByType(t *testing.T) {
	long := strings.Repeat("a", 4096)
	tests := []struct {
		types   []string
		message string
		good    map[string]string // data as sent → as engines keep it, in the zone acme.test
		bad     []string
	}{
		{
			[]string{dns.A},
			"Enter a valid IPv4 address.",
			map[string]string{"192.0.2.10": "192.0.2.10", "0.0.0.0": "0.0.0.0"},
			[]string{"", "192.0.2", "192.0.2.256", "192.0.2.010", "2001:db8::1", "::ffff:192.0.2.1", "www", "192.0.2.1/24", " 192.0.2.1"},
		},
		{
			[]string{dns.AAAA},
			"Enter a valid IPv6 address.",
			map[string]string{"2001:DB8:0::1": "2001:db8::1", "::": "::", "::ffff:192.0.2.1": "::ffff:192.0.2.1"},
			[]string{"", "192.0.2.1", "2001:db8::1::", "fe80::1%eth0", "2001:db8::/32", "[::1]"},
		},
		{
			[]string{dns.CNAME, dns.MX, dns.NS, dns.PTR},
			"Enter a valid host name.",
			map[string]string{
				"Mail.Example.COM.": "mail.example.com.", "mail.example.com": "mail.example.com.",
				"mail": "mail.acme.test.", "@": "acme.test.",
				"münchen.example": "xn--mnchen-3ya.example.", "com.": "com.",
			},
			[]string{
				"", "192.0.2.1", "mail example.com", "-a.example.com", "a..example.com", "*.example.com", "a/b",
				"mail.example.com..", "@.", strings.Repeat("a", 64), strings.Repeat("a.", 127) + "com",
				"mail\n.example.com", `a\.b`,
			},
		},
		{
			[]string{dns.CNAME},
			"Enter a valid host name.",
			map[string]string{"s1._domainkey.example.com": "s1._domainkey.example.com."},
			[]string{"."},
		},
		{[]string{dns.MX}, "Enter a valid host name.", map[string]string{".": "."}, []string{"_mail.example.com"}},
		{[]string{dns.NS, dns.PTR}, "Enter a valid host name.", nil, []string{".", "_ns.example.com"}},
		{
			[]string{dns.SRV},
			`Enter SRV data as "weight port target".`,
			map[string]string{
				"5 5060 sip": "5 5060 sip.acme.test.", "0  0\t.": "0 0 .",
				"65535 065535 sip.example.com": "65535 65535 sip.example.com.",
			},
			[]string{
				"", "5 5060", "10 5 5060 sip", "5 65536 sip", "-1 1 sip", "+1 1 sip", "a 1 sip", "5 5060 192.0.2.1",
				"5 5060 _sip.example.com",
			},
		},
		{
			[]string{dns.CAA},
			`Enter CAA data as 'flags tag "value"'.`,
			map[string]string{
				`0 issue "letsencrypt.org"`: `0 issue "letsencrypt.org"`, `128  IssueWild	";"`: `128 issuewild ";"`,
				`0 iodef "mailto:ada@acme.test"`: `0 iodef "mailto:ada@acme.test"`, `0 issue ""`: `0 issue ""`,
				`0 IssueMail ";"`: `0 issuemail ";"`,
			},
			[]string{
				"", `0 issue letsencrypt.org`, `1 issue "a"`, `0 policy "a"`, `0 issue "a`, `0 issue "a" b`,
				`0 issue "a\"b"`, `0 issue "ä"`, `issue "a"`,
			},
		},
		{
			[]string{dns.TXT},
			"Enter valid TXT data.",
			map[string]string{
				"v=spf1 mx -all": "v=spf1 mx -all", `"v=spf1 mx -all"`: "v=spf1 mx -all", `"one" "two"`: "onetwo", `"one""two"`: "onetwo",
				`"a\\b\065"`: `a\bA`, `say "hi"`: `say "hi"`, `"say \"hi\""`: `say "hi"`, `a\b`: `a\b`, " x ": " x ",
				"ñ<b>": "ñ<b>", long: long,
			},
			[]string{
				"", `"a" b`, `"open`, `open"`, `"a\"`, `""`, `"one" two"`, "a\nb", "a\rb", `"a\010b"`, `"\200"`,
				`"\"a\""`, `"a\"b"`, long + "a", `"` + long + `"`,
			},
		},
	}
	for _, tt := range tests {
		for _, recordType := range tt.types {
			for data, normal := range tt.good {
				if err := dns.CheckData(recordType, data, "acme.test."); err != nil {
					t.Errorf("%s %q is refused: %v", recordType, data, err)
				}
				if got := dns.Normal(recordType, data, "acme.test."); got != normal {
					t.Errorf("%s %q is kept as %q, want %q", recordType, data, got, normal)
				}
			}
			for _, data := range tt.bad {
				var refusal *domain.Error
				if err := dns.CheckData(recordType, data, "acme.test."); !errors.As(err, &refusal) ||
					refusal.Field != "data" || refusal.Message != tt.message {
					t.Errorf("%s %q is answered with %v, want %q", recordType, data, err, tt.message)
				}
				if got := dns.Normal(recordType, data, "acme.test."); got != data {
					t.Errorf("%s %q, which is no data, becomes %q", recordType, data, got)
				}
			}
		}
	}
}

func TestATypeThatIsNoneIsRefused(t *testing.T) {
	err := dns.CheckData("SOA", "x", "acme.test.")
	if want := `record_type: "SOA" is not a valid choice.`; err == nil || err.Error() != want {
		t.Errorf("SOA is answered with %v, want %s", err, want)
	}
	if got := dns.Normal("SOA", "x", "acme.test."); got != "x" {
		t.Errorf("SOA becomes %q", got)
	}
}

func TestACNAMEStandsAlone(t *testing.T) {
	tests := []struct {
		recordType, name string
		others           []string
		together         bool
	}{
		{dns.CNAME, "www", nil, true},
		{dns.CNAME, "www", []string{dns.A}, false},
		{dns.CNAME, "www", []string{dns.CNAME}, false},
		{dns.CNAME, dns.Apex, nil, false},
		{dns.TXT, "www", []string{dns.A, dns.CNAME}, false},
		{dns.TXT, "www", []string{dns.A, dns.TXT}, true},
		{dns.MX, dns.Apex, nil, true},
	}
	for _, tt := range tests {
		err := dns.CheckBeside(tt.recordType, tt.name, tt.others...)
		if tt.together != (err == nil) {
			t.Errorf("%s at %s beside %v: %v", tt.recordType, tt.name, tt.others, err)
		}
		if want := "non_field_errors: A CNAME record cannot coexist with other records at the same name."; err != nil &&
			err.Error() != want {
			t.Errorf("refused with %q", err)
		}
	}
}

func TestOnlyMailHasAPriorityOfItsOwn(t *testing.T) {
	for _, recordType := range dns.Types {
		want := int64(0)
		if recordType == "MX" {
			want = 10
		}
		if got := dns.Priority(recordType); got != want {
			t.Errorf("%s has priority %d, want %d", recordType, got, want)
		}
	}
}

func TestLongTextsAreCutBetweenCharacters(t *testing.T) {
	tests := map[string]struct {
		text  string
		sizes []int
	}{
		"short":                       {"a", []int{1}},
		"empty":                       {"", []int{0}},
		"just fits":                   {strings.Repeat("a", 255), []int{255}},
		"one more":                    {strings.Repeat("a", 256), []int{255, 1}},
		"a character on the boundary": {strings.Repeat("a", 254) + "ñ", []int{254, 2}},
		"no characters at all":        {strings.Repeat("\x80", 300), []int{252, 48}},
		"four bytes on the boundary":  {strings.Repeat("a", 252) + "😀b", []int{252, 5}},
	}
	for name, tt := range tests {
		pieces := dns.Strings(tt.text)
		if strings.Join(pieces, "") != tt.text || len(pieces) != len(tt.sizes) {
			t.Fatalf("%s: %q", name, pieces)
		}
		for i, piece := range pieces {
			if len(piece) != tt.sizes[i] {
				t.Errorf("%s: piece %d has %d bytes, want %d", name, i, len(piece), tt.sizes[i])
			}
		}
	}
}

// Records from before keep their form, so engines find them again.
func TestNothingNewPointsToALabelOfNoScript(t *testing.T) {
	for kind, data := range map[string]string{
		dns.CNAME: "www.xn--a.example", dns.MX: "xn--a.example", dns.NS: "xn--a.example", dns.PTR: "xn--a.example",
		dns.SRV: "5 5060 xn--a.example",
	} {
		if err := dns.CheckData(kind, data, "acme.test."); err == nil {
			t.Errorf("%s %s is taken", kind, data)
		}
		if got := dns.Normal(kind, data, "acme.test."); got != data+"." {
			t.Errorf("%s %s becomes %s", kind, data, got)
		}
	}
	if err := dns.CheckData(dns.TXT, "xn--a", "acme.test."); err != nil {
		t.Error(err)
	}
}
