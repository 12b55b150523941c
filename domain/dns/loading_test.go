package dns_test

import (
	"errors"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/dns"
)

// What a name server would refuse a whole zone for is left out of its file, and
// nothing else is.
func TestOneSlipTakesNoDomainOffTheNet(t *testing.T) {
	at := func(name, recordType, data string) dns.Record {
		return dns.Record{Name: name, Type: recordType, Data: data}
	}
	for what, tt := range map[string]struct {
		record dns.Record
		beside []dns.Record
		out    bool
	}{
		"a mail host without address": {record: at("@", dns.MX, "mail"), out: true},
		"a mail host that has one": {
			record: at("@", dns.MX, "mail"), beside: []dns.Record{at("mail", dns.AAAA, "2001:db8::1")},
		},
		"a mail host behind an alias": {
			record: at("@", dns.MX, "mail"), beside: []dns.Record{at("mail", dns.CNAME, "x.test")},
		},
		"a mail host elsewhere": {record: at("@", dns.MX, "mail.notacme.test")},
		"no mail at all":        {record: at("@", dns.MX, ".")},
		"a mail host under a wildcard": {
			record: at("@", dns.MX, "a.b.acme.test"), beside: []dns.Record{at("*", dns.A, "192.0.2.1")},
		},
		"a mail host that hides from a wildcard": {
			record: at("@", dns.MX, "a.b.acme.test"),
			beside: []dns.Record{at("*", dns.A, "192.0.2.1"), at("x.b", dns.TXT, "b is there")}, out: true,
		},
		"a mail host in a zone handed on": {
			record: at("@", dns.MX, "a.sub.acme.test"), beside: []dns.Record{at("sub", dns.NS, "ns.other.test")},
		},
		"a name server of the zone without address": {record: at("@", dns.NS, "ns9"), out: true},
		"a name server of the zone behind an alias": {
			record: at("@", dns.NS, "ns9"), beside: []dns.Record{at("ns9", dns.CNAME, "x.test")}, out: true,
		},
		"a name server of the zone that has one":     {record: at("@", dns.NS, "ns9"), beside: []dns.Record{at("ns9", dns.A, "192.0.2.9")}},
		"a zone handed on to a server without glue":  {record: at("sub", dns.NS, "ns.sub.acme.test")},
		"a service without address":                  {record: at("_sip._tcp", dns.SRV, "0 5060 sip")},
		"an address at a name that is no host":       {record: at("_x", dns.A, "192.0.2.1"), out: true},
		"an address of Active Directory":             {record: at("gc._msdcs", dns.A, "192.0.2.1")},
		"a text at a name that is no host":           {record: at("_dmarc", dns.TXT, "v=DMARC1")},
		"all subdomains handed on with one wildcard": {record: at("*", dns.NS, "ns.other.test"), out: true},
	} {
		z := acme
		z.Records = append(tt.beside, tt.record)
		if file := z.File(); strings.Contains(file, "; left out, ") != tt.out {
			t.Errorf("%s:\n%s", what, file)
		}
	}
}

// A zone that cannot be served is refused.
func TestAZoneWithoutAnyNameServerIsWrittenAsItIs(t *testing.T) {
	z := dns.Zone{Origin: "acme.test.", Primary: "ns1.acme.test.", Contact: "hostmaster.acme.test.", Serial: 1, TTL: 60}
	if file := z.File(); strings.Contains(file, "left out") {
		t.Error(file)
	}
}

func TestANameThatNoServerTakesIsRefusedAtOnce(t *testing.T) {
	for _, tt := range []struct{ recordType, name, message string }{
		{dns.A, "_x", "Enter a valid host name."},
		{dns.AAAA, "a._x", "Enter a valid host name."},
		{dns.MX, "_x", "Enter a valid host name."},
		{dns.NS, "*.a", "Enter a valid host name."},
		{dns.A, "gc._msdcs", ""},
		{dns.A, "*", ""},
		{dns.CNAME, "_x", ""},
		{dns.TXT, "_dmarc", ""},
		{dns.SRV, "_sip._tcp", ""},
		{dns.NS, "_msdcs", ""},
	} {
		err := dns.CheckOwner(tt.recordType, tt.name, "acme.test.")
		var refusal *domain.Error
		if errors.As(err, &refusal) != (tt.message != "") || refusal != nil && (refusal.Field != "name" || refusal.Message != tt.message) {
			t.Errorf("%s at %s: %v", tt.recordType, tt.name, err)
		}
	}
}

// A target fits into a message together with its zone, or is refused.
func TestATargetIsNoLongerThanANameMayBe(t *testing.T) {
	origin := strings.Repeat("abcdefgh.", 27) // of 243
	if err := dns.CheckData(dns.CNAME, "abcdefghij", origin); err != nil {
		t.Error(err)
	}
	if dns.CheckData(dns.CNAME, "abcdefghijk", origin) == nil {
		t.Error("a name of 255 is taken")
	}
}

func TestAHostmasterIsWhereMailGoes(t *testing.T) {
	for origin, want := range map[string]string{"acme.test.": "hostmaster.acme.test.", "_tcp._msdcs.acme.test.": "hostmaster.acme.test."} {
		if got := dns.Hostmaster(origin); got != want || !dns.Contact.Holds(got) {
			t.Errorf("%s: %s", origin, got)
		}
	}
	for name, host := range map[string]bool{"ns1.acme.test.": true, "_ns.acme.test.": false, "*.acme.test.": false, "ns1": false} {
		if dns.Server.Holds(name) != host {
			t.Errorf("%s is taken for a name server: %v", name, !host)
		}
	}
}
