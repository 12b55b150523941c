package projections

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hostpanel/domain"
	"hostpanel/domain/dns"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

const (
	theZone    = 7
	cnameAlone = "A CNAME record cannot coexist with other records at the same name."
)

var zoneRef = hosting.Ref{Kind: "dns_zone", ID: theZone}

func zone(id int64, origin string) hosting.Request {
	z := hosting.DNSZone{Origin: origin, NSPrimary: "ns1.panel.example.", AdminEmail: "hostmaster." + origin, TTL: 3600, IsActive: true}
	return hosting.Request{Ref: hosting.Ref{Kind: "dns_zone", ID: id}, Tenant: 5, Spec: values(&z)}
}

func record(id int64, sort, name, data string) hosting.Request {
	r := hosting.DNSRecord{Zone: theZone, ZoneOrigin: "example.com.", Type: sort, Name: name, Data: data, TTL: 3600, IsActive: true}
	return hosting.Request{Ref: hosting.Ref{Kind: "dns_record", ID: id}, Tenant: 5, Spec: values(&r)}
}

func recordRef(id int64) hosting.Ref { return hosting.Ref{Kind: "dns_record", ID: id} }

func set(name, value string) field.Values { return field.Values{name: field.AppendText(nil, value)} }

func (p *panel) serial(t *testing.T) dns.Serial {
	t.Helper()
	serial, err := p.For(System).Hosting().zoneSerial(t.Context(), theZone)
	if err != nil {
		t.Fatal(err)
	}
	return serial
}

// setSerial lets the zone have a history.
func (p *panel) setSerial(t *testing.T, serial dns.Serial) {
	t.Helper()
	if _, err := p.owner.Exec(t.Context(), `update zone_serials set serial = $1`, int64(serial)); err != nil {
		t.Fatal(err)
	}
}

// today has the same date before and after the write.
func today(t *testing.T, write func()) time.Time {
	t.Helper()
	for {
		before := time.Now().UTC()
		write()
		if time.Now().UTC().YearDay() == before.YearDay() {
			return before
		}
	}
}

func TestEveryWriteInAZoneRaisesItsSerial(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, tenant(5, "Ana SL", "ana"), zone(theZone, "example.com."))
	raises := func(what string, command domain.Command, raised bool) {
		t.Helper()
		before := p.serial(t)
		p.do(t, command)
		if after := p.serial(t); after.After(before) != raised || !raised && after != before {
			t.Errorf("%s: %d, before %d", what, after, before)
		}
	}
	raises("a new record", record(1, "A", "www", "192.0.2.1"), true)
	raises("what the engine says", hosting.Confirm{Ref: recordRef(1), EngineID: 9}, false)
	raises("a record that changes", hosting.Change{Ref: recordRef(1), Spec: set("data", "192.0.2.2")}, true)
	raises("the zone itself", hosting.Change{Ref: zoneRef, Spec: set("ns_primary", "ns9.example.")}, true)
	raises("a record that goes", hosting.Remove{Ref: recordRef(1)}, true)
	raises("its being gone", hosting.Confirm{Ref: recordRef(1)}, false)
	raises("something in another zone", zone(8, "other.example."), false)
	before := p.serial(t)
	if _, err := Rebuild(t.Context(), p.owner, p.Reader(), []string{"resources"}, Options{}); err != nil {
		t.Fatal(err)
	}
	if after := p.serial(t); after != before {
		t.Errorf("a rebuild makes %d of %d", after, before)
	}
}

// The database counts serials like the domain, whatever the last one was.
func TestTheSerialIsTheOneThatTheDomainCounts(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, tenant(5, "Ana SL", "ana"), zone(theZone, "example.com."), record(1, "A", "www", "192.0.2.1"))
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	y, m, d := time.Now().UTC().Date()
	dated := dns.Serial(y*10000+int(m)*100+d) * 100
	for i, last := range []dns.Serial{0, 17, dated - 1, dated, dated + 1, dated + 99, dated + 100, 1795255974, math.MaxUint32, 0, 0, 0, 0} {
		if i >= 9 {
			last = dns.Serial(random.Uint32())
		}
		var want dns.Serial
		day := today(t, func() {
			p.setSerial(t, last)
			p.do(t, hosting.Change{Ref: recordRef(1), Spec: set("data", fmt.Sprint("192.0.2.", i))})
		})
		if want = last.Next(day); p.serial(t) != want {
			t.Errorf("after %d comes %d, not %d (seed %d)", last, p.serial(t), want, seed)
		}
	}
}

func TestACNAMEKeepsOthersOut(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(
		t, tenant(5, "Ana SL", "ana"), zone(theZone, "example.com."), record(1, "A", "www", "192.0.2.1"),
		record(2, "CNAME", "shop", "www"),
	)
	p.refused(t, field.NonField, cnameAlone, record(3, "CNAME", "www", "shop"))
	p.refused(t, field.NonField, cnameAlone, record(3, "TXT", "shop", "a"))
	p.refused(t, field.NonField, cnameAlone, hosting.Change{Ref: recordRef(2), Spec: set("name", "www")})
	p.refused(t, field.NonField, cnameAlone, record(3, "A", "mail", "192.0.2.1"), record(4, "CNAME", "mail", "shop"))
	p.do(t, record(3, "TXT", "www", "a"))
	p.do(t, hosting.Remove{Ref: recordRef(2)}, record(4, "TXT", "shop", "a"))
	p.do(t, hosting.Change{Ref: recordRef(4), Spec: set("data", "b")})
	other := record(5, "CNAME", "www", "a")
	other.Spec["zone"] = []byte("8")
	p.do(t, zone(8, "other.example."), other)
}

// Of requests at the same time either the CNAME comes through or the others.
func TestACNAMEStandsAloneHoweverFastOthersAre(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, tenant(5, "Ana SL", "ana"), zone(theZone, "example.com."))
	for round := range int64(10) {
		var all errgroup.Group
		name := fmt.Sprint("www", round)
		for i, sort := range []string{"CNAME", "A", "CNAME", "TXT", "MX", "A"} {
			all.Go(func() error {
				err := p.try(t, record(round*10+int64(i)+1, sort, name, fmt.Sprint(i)))
				var refusal *domain.Error
				if errors.As(err, &refusal) && refusal.Message == cnameAlone {
					return nil
				}
				return err
			})
		}
		if err := all.Wait(); err != nil {
			t.Fatal(err)
		}
		var cnames, others int
		err := p.owner.QueryRow(t.Context(), `
			select count(*) filter (where spec ->> 'record_type' = 'CNAME'), count(*) filter (where spec ->> 'record_type' <> 'CNAME')
			from resources where kind = 'dns_record' and spec ->> 'name' = $1`, name).Scan(&cnames, &others)
		if err != nil || cnames > 1 || cnames == 1 && others > 0 || cnames+others == 0 {
			t.Fatalf("%d CNAMEs beside %d others, %v", cnames, others, err)
		}
	}
}

func TestAZoneIsPublishedWithWhatIsSwitchedOn(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	off := record(2, "A", "old", "192.0.2.9")
	off.Spec["is_active"] = []byte("false")
	p.do(t, tenant(5, "Ana SL", "ana"), zone(theZone, "example.com."), record(1, "A", "www", "192.0.2.1"), off)
	z, err := p.For(Caller{Tenant: 5}).Hosting().Zone(t.Context(), theZone, []string{"ns1.panel.example.", "ns2.panel.example."})
	if err != nil || z.Serial != p.serial(t) || len(z.Records) != 1 || z.Records[0].Name != "www" {
		t.Fatal(z, err)
	}
	if file := z.File(); !strings.Contains(file, "NS\tns2.panel.example.\n") || !strings.Contains(
		file, "www.example.com.\t3600\tIN\tA\t192.0.2.1\n",
	) {
		t.Error(file)
	}
	if _, err := p.For(Caller{Tenant: 6}).Hosting().Zone(t.Context(), theZone, nil); domain.CodeOf(err) != domain.NotFound {
		t.Error("another tenant reads the zone:", err)
	}
}

// A zone may be as large as it may be, and no larger.
func TestAZoneHasFiveThousandRecords(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, tenant(5, "Ana SL", "ana"), zone(theZone, "example.com."), record(1, "A", "h1", "192.0.2.1"))
	p.fill(t, dns.MaxRecords-1)
	p.do(t, record(dns.MaxRecords, "A", "last", "192.0.2.1"))
	p.refused(t, field.NonField, "Limit reached: dns_records.", record(9999, "A", "more", "192.0.2.1"))
	z, err := p.For(System).Hosting().Zone(t.Context(), theZone, nil)
	if err != nil || len(z.Records) != dns.MaxRecords || strings.Count(z.File(), "\n") != dns.MaxRecords+4 {
		t.Fatal(len(z.Records), err)
	}
}

// fill copies record 1 until there are so many.
func (p *panel) fill(t *testing.T, records int) {
	t.Helper()
	_, err := p.owner.Exec(t.Context(), `
		with copied as (
			insert into resources (kind, id, tenant, status, spec, wish, sync_status, requested_for, created_at, updated_at, version)
			select kind, n, tenant, status, spec || jsonb_build_object('name', 'h' || n), wish, sync_status,
				requested_for, created_at, updated_at, version
			from resources, generate_series(2, $1::int) n where kind = 'dns_record' and id = 1 returning id
		)
		insert into record_names (record, zone, name, cname) select id, 7, 'h' || id, false from copied`, records)
	if err != nil {
		t.Fatal(err)
	}
}
