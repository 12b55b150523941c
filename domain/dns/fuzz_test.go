package dns_test

import (
	"testing"

	"hostpanel/domain/dns"
)

// FuzzData sends anything as a record's data: what is taken has one normal
// form, and a zone with it is read back as the same records.
func FuzzData(f *testing.F) {
	for i, data := range []string{
		"192.0.2.1", "2001:db8::1", "www.example.com", "mail", `"v=spf1" " -all"`, "ns1.example.net.", "5 5060 sip",
		`0 issue "ca.example"`, "@",
		".", `a\"b`, `"\000"`, "$INCLUDE /etc/passwd", ";", "(", "x.\n@ IN A 192.0.2.1", "münchen.example", "0 0 .", `""`,
	} {
		f.Add(uint8(i), data)
	}
	f.Fuzz(func(t *testing.T, kind uint8, data string) {
		recordType := dns.Types[int(kind)%len(dns.Types)]
		if dns.CheckData(recordType, data, "acme.test.") != nil {
			return
		}
		normal := dns.Normal(recordType, data, "acme.test.")
		if again := dns.Normal(recordType, normal, "acme.test."); again != normal {
			t.Fatalf("%s %q is kept as %q, and then as %q", recordType, data, normal, again)
		}
		if err := dns.CheckData(recordType, normal, "acme.test."); err != nil {
			t.Fatalf("%s %q is kept as %q, which is refused: %v", recordType, data, normal, err)
		}
		z := acme
		z.Records = []dns.Record{{Name: "x", Type: recordType, Data: data}}
		sameRecords(t, z)
	})
}

// FuzzNames sends anything as a name: what is taken is kept as it is from then
// on, and a zone with it is read back as the same records.
func FuzzNames(f *testing.F) {
	for _, sent := range []string{
		"@", "www", "*.a", "_dmarc", "www.acme.test.", "a.b@x.com", `a\.b.x.com.`, "ñ", "xn--ida", "a\tb", "$TTL",
		"\\", "acme.test", "a'b@x.com",
	} {
		f.Add(sent)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		z := acme
		z.Records = nil
		if contact := dns.Contact.Tidy(sent); dns.Contact.Holds(contact) {
			z.Contact = contact
			if again := dns.Contact.Tidy(contact); again != contact {
				t.Fatalf("contact %q is kept as %q, and then as %q", sent, contact, again)
			}
		}
		if name := dns.RecordName.Tidy(sent); dns.RecordName.Holds(name) {
			if kept, err := dns.Within(name, z.Origin); err == nil {
				z.Records = []dns.Record{{Name: kept, Type: dns.A, Data: "192.0.2.1"}}
				if again, err := dns.Within(kept, z.Origin); err != nil || again != kept {
					t.Fatalf("name %q is kept as %q, and then as %q (%v)", sent, kept, again, err)
				}
			}
		}
		sameRecords(t, z)
	})
}
