package hosting_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

func TestDNSZones(t *testing.T) {
	answers(t, "dns_zone", placeOf("dns_zone"), []asked{
		{
			`{"origin":"Example.com"}`,
			`{"origin":"example.com.","ns_primary":"ns1.panel.example.","admin_email":"hostmaster.example.com.",` +
				`"ttl":3600,"is_active":true}`,
		},
		{
			`{"origin":"example.com.","ns_primary":"NS.other.example","admin_email":"a.b@X.com","ttl":60}`,
			`{"origin":"example.com.","ns_primary":"ns.other.example.","admin_email":"a\\.b.x.com.","ttl":60}`,
		},
		{`{"origin":"example.com.","admin_email":"a\\.b.X.com"}`, `{"admin_email":"a\\.b.x.com."}`},
		{`{"origin":"example.com.","admin_email":"admin.example.com."}`, `{"admin_email":"admin.example.com."}`},
		{`{"origin":"müller.de"}`, `{"origin":"xn--mller-kva.de."}`},
		{`{"origin":"com"}`, `{"origin":["Enter a valid domain name."]}`},
		{`{"origin":"a b.com"}`, `{"origin":["Enter a valid domain name."]}`},
		{`{}`, `{"origin":["This field is required."]}`},
		{`{"origin":"shop.onion"}`, `{"origin":["Names that end in .local or .onion are not in DNS."]}`},
		{`{"origin":"example.com","ttl":59}`, `{"ttl":["Ensure this value is greater than or equal to 60."]}`},
		{`{"origin":"example.com","ttl":2147483648}`, `{"ttl":["Ensure this value is less than or equal to 2147483647."]}`},
		{
			`{"origin":"example.com","ns_primary":"","admin_email":"@"}`,
			`{"ns_primary":["This field may not be blank."],"admin_email":["Enter a valid email address."]}`,
		},
		{
			`{"origin":"` + strings.Repeat("a.", 126) + `com"}`,
			`{"origin":["Ensure this field has no more than 254 characters.","Enter a valid domain name."]}`,
		},
	})
	spec, _ := create("dns_zone", `{"origin":"example.com"}`, placeOf("dns_zone"))
	if wrong := change(spec, `{"origin":"EXAMPLE.com"}`, placeOf("dns_zone")); wrong != "" {
		t.Error(wrong)
	}
	if wrong := change(spec, `{"origin":"other.com"}`, placeOf("dns_zone")); wrong != `{"origin":["This field cannot be changed."]}` {
		t.Error(wrong)
	}
}

func TestDNSRecords(t *testing.T) {
	answers(t, "dns_record", placeOf("dns_record"), []asked{
		{
			`{"zone":3,"record_type":"A","name":"www","data":" 192.0.2.1 "}`,
			`{"zone":3,"zone_origin":"example.com.","record_type":"A","name":"www","data":"192.0.2.1","priority":0,` +
				`"ttl":7200,"is_active":true}`,
		},
		{`{"zone":3,"record_type":"MX","name":"@","data":"Mail.example.com."}`, `{"data":"Mail.example.com.","priority":10}`},
		{`{"zone":3,"record_type":"MX","name":"@","data":"mail","priority":0,"ttl":60}`, `{"priority":0,"ttl":60}`},
		{`{"zone":3,"record_type":"A","name":"WWW.Example.com.","data":"192.0.2.1"}`, `{"name":"www"}`},
		{`{"zone":3,"record_type":"A","name":"a.b.example.com","data":"192.0.2.1"}`, `{"name":"a.b"}`},
		{`{"zone":3,"record_type":"A","name":"example.com.","data":"192.0.2.1"}`, `{"name":"@"}`},
		{`{"zone":3,"record_type":"A","name":"notexample.com","data":"192.0.2.1"}`, `{"name":"notexample.com"}`},
		{`{"zone":3,"record_type":"TXT","name":"_dmarc","data":"v=DMARC1"}`, `{"name":"_dmarc"}`},
		{`{"zone":3,"record_type":"A","name":"*","data":"192.0.2.1"}`, `{"name":"*"}`},
		{`{"zone":3,"record_type":"A","name":"a.*","data":"192.0.2.1"}`, `{"name":["Enter a valid domain name."]}`},
		{`{"zone":3,"record_type":"A","name":"www.other.com.","data":"192.0.2.1"}`, `{"name":["Enter a valid domain name."]}`},
		{`{"zone":3,"record_type":"A","name":"-a","data":"192.0.2.1"}`, `{"name":["Enter a valid domain name."]}`},
		{
			`{"zone":3,"record_type":"A","name":"` + strings.Repeat("a.", 122) + `a","data":"192.0.2.1"}`,
			`{"name":["Enter a valid domain name."]}`,
		},
		{
			`{"zone":3,"record_type":"SOA","name":"","data":""}`,
			`{"record_type":["\"SOA\" is not a valid choice."],"name":["This field may not be blank."],` +
				`"data":["This field may not be blank."]}`,
		},
		{
			`{"zone":3,"record_type":"MX","name":"@","data":"mail","priority":65536,"ttl":1}`,
			`{"priority":["Ensure this value is less than or equal to 65535."],` +
				`"ttl":["Ensure this value is greater than or equal to 60."]}`,
		},
		{
			`{}`,
			`{"zone":["This field is required."],"record_type":["This field is required."],` +
				`"name":["This field is required."],"data":["This field is required."]}`,
		},
	})
}

func TestWhatDNSRecordsHold(t *testing.T) {
	const (
		notIPv4    = "Enter a valid IPv4 address."
		notIPv6    = "Enter a valid IPv6 address."
		notHost    = "Enter a valid host name."
		notService = `Enter SRV data as \"weight port target\".`
		notCAA     = `Enter CAA data as 'flags tag \"value\"'.`
		notText    = "Enter valid TXT data."
	)
	for _, c := range []struct{ sort, data, want string }{
		{"A", "192.0.2.1", ""},
		{"A", "2001:db8::1", notIPv4},
		{"A", "192.0.2", notIPv4},
		{"A", "192.0.2.1\\n", ""}, // trimmed
		{"AAAA", "2001:db8::1", ""},
		{"AAAA", "192.0.2.1", notIPv6},
		{"AAAA", "fe80::1%eth0", notIPv6},
		{"CNAME", "target.example.com.", ""},
		{"CNAME", "_x._domainkey.example.net", ""},
		{"CNAME", "a b", notHost},
		{"CNAME", "*.example.com", notHost},
		{"NS", "ns1", ""},
		{"NS", "ns1..example.com", notHost},
		{"NS", "@", ""}, // the zone itself
		{"NS", "192.0.2.1", notHost},
		{"MX", ".", ""}, // no mail here
		{"PTR", "host.example.com.", ""},
		{"PTR", "-", notHost},
		{"MX", "10 mail", notHost},
		{"SRV", "5 5060 sip.example.com.", ""},
		{"SRV", "0 0 .", ""},
		{"SRV", "5060 sip.example.com.", notService},
		{"SRV", "5 65536 sip", notService},
		{"SRV", "10 5 5060 sip", notService},
		{"CAA", `0 issue \"letsencrypt.org\"`, ""},
		{"CAA", `128 iodef \"mailto:a@b.es\"`, ""},
		{"CAA", `0 issuewild \";\"`, ""},
		{"CAA", `1 issue \"x\"`, notCAA},
		{"CAA", `0 tag \"x\"`, notCAA},
		{"CAA", `0 issue letsencrypt.org`, notCAA},
		{"TXT", "v=spf1 -all", ""},
		{"TXT", `\"a\" \"b\"`, ""},
		{"TXT", `\"a`, notText},
		{"TXT", `a\\\"b`, notText},
		{"TXT", `a\nb`, notText},
		{"TXT", `a\rb`, notText},
		{"TXT", long(4096), ""},
		{"TXT", long(4097), "Ensure this field has no more than 4096 characters."},
	} {
		_, got := create(
			"dns_record", fmt.Sprintf(`{"zone":3,"record_type":%q,"name":"www","data":"%s"}`, c.sort, c.data),
			placeOf("dns_record"),
		)
		want := ""
		if c.want != "" {
			want = `{"data":["` + c.want + `"]}`
		}
		if got != want {
			t.Errorf("%s %s\n got %s\nwant %s", c.sort, short(c.data), got, want)
		}
	}
}

func TestACNAMEStandsAlone(t *testing.T) {
	const alone = `{"non_field_errors":["A CNAME record cannot coexist with other records at the same name."]}`
	for _, c := range []struct {
		sort, name string
		beside     []string
		want       string
	}{
		{"CNAME", "www", nil, ""},
		{"CNAME", "@", nil, alone},
		{"CNAME", "example.com.", nil, alone},
		{"CNAME", "www", []string{"A"}, alone},
		{"CNAME", "www", []string{"CNAME"}, alone},
		{"TXT", "www", []string{"CNAME"}, alone},
		{"TXT", "www", []string{"A", "TXT"}, ""},
	} {
		p := placeOf("dns_record")
		for _, sort := range c.beside {
			p.Beside = append(p.Beside, values(`{"name":"www","record_type":"`+sort+`","data":"other.example."}`))
		}
		if _, got := create(
			"dns_record", fmt.Sprintf(`{"zone":3,"record_type":%q,"name":%q,"data":"a"}`, c.sort, c.name), p,
		); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// A name server takes these, and nothing can use them.
func TestARecordThatBreaksWhatItIsForIsRefused(t *testing.T) {
	const (
		itself    = `{"data":["A CNAME cannot point to itself."]}`
		authority = `{"data":["Enter the domain of a certificate authority, such as letsencrypt.org, or ; for none."]}`
		reports   = `{"data":["Enter a mailto: or https: address for reports."]}`
		null      = `{"data":["A null MX (.) stands alone at its name."]}`
		policy    = `{"data":["This name has a sender policy (SPF) already."]}`
	)
	for _, c := range []struct{ sort, data, beside, want string }{
		{"CNAME", "www", "", itself},
		{"CNAME", "WWW.example.com.", "", itself},
		{"CNAME", "www2", "", ""},
		{"CAA", `0 issue \"https://letsencrypt.org\"`, "", authority},
		{"CAA", `0 issue \"letsencrypt.org; validationmethods=dns-01\"`, "", ""},
		{"CAA", `0 issue \"letsencrypt\"`, "", authority},
		{"CAA", `0 issue \";\"`, "", ""},
		{"CAA", `0 issuewild \"\"`, "", ""},
		{"CAA", `0 iodef \"ana@example.com\"`, "", reports},
		{"CAA", `0 iodef \"mailto:ana@example.com\"`, "", ""},
		{"MX", ".", "mail", null},
		{"MX", "mail", ".", null},
		{"MX", "mail", "mail2", ""},
		{"TXT", "v=spf1 -all", "v=spf1 mx -all", policy},
		{"TXT", "v=spf1 -all", `"v=sp" "f1 mx -all"`, policy},
		{"TXT", "v=spf1 -all", "V=SPF1 mx -all", policy},
		{"TXT", "v=spf1 -all", "v=spf10", ""},
	} {
		p := placeOf("dns_record")
		if c.beside != "" {
			there, _ := json.Marshal(map[string]string{"name": "www", "record_type": c.sort, "data": c.beside})
			p.Beside = []field.Values{values(string(there))}
		}
		body := fmt.Sprintf(`{"zone":3,"record_type":%q,"name":"www","data":"%s"}`, c.sort, c.data)
		spec, got := create("dns_record", body, p)
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
		if c.want != "" { // one of before can be changed otherwise
			p.Before = spec.Fields().Values()
			if got := change(spec, `{"ttl":300}`, p); got != "" {
				t.Errorf("%+v changed: %s", c, got)
			}
		}
	}
}

func TestARecordIsNotSaidTwice(t *testing.T) {
	const twice = `{"non_field_errors":["The fields zone, record_type, name, data must make a unique set."]}`
	for _, c := range []struct{ sort, there, data, want string }{
		{"MX", "mail", "mail.example.com", twice},
		{"AAAA", "2001:db8::1", "2001:DB8:0::1", twice},
		{"TXT", "a text", `\"a text\"`, twice},
		{"TXT", "a text", "another text", ""},
	} {
		p := placeOf("dns_record")
		there, _ := json.Marshal(map[string]string{"name": "www", "record_type": c.sort, "data": c.there})
		p.Beside = []field.Values{values(string(there))}
		if _, got := create(
			"dns_record", fmt.Sprintf(`{"zone":3,"record_type":%q,"name":"www","data":"%s"}`, c.sort, c.data), p,
		); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestARecordChanges(t *testing.T) {
	p := placeOf("dns_record")
	spec, _ := create("dns_record", `{"zone":3,"record_type":"A","name":"www","data":"192.0.2.1"}`, p)
	for _, c := range []asked{
		{`{"zone":4}`, `{"zone":["This field cannot be changed."]}`},
		{`{"zone":"3","zone_origin":"x."}`, ""},
		{`{"record_type":"AAAA"}`, `{"data":["Enter a valid IPv6 address."]}`},
		{`{"record_type":"AAAA","data":"2001:db8::1","name":"api.example.com."}`, ""},
	} {
		if got := change(spec, c.body, p); got != c.want {
			t.Errorf("%s: %s", c.body, got)
		}
	}
	if r := spec.(*hosting.DNSRecord); r.Name != "api" || r.TTL != 7200 || r.ZoneOrigin != "example.com." || r.Priority != 0 {
		t.Errorf("%+v", r)
	}
}
