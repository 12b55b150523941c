package orders

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/dns"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// Where a zone of the panel has the reverse name of a machine's address, the host name that
// was ordered becomes a PTR record of it, and ends with the machine (docs/machines-stock.md,
// "Reverse DNS").

// reverseDNS keeps the PTR records of machines.
type reverseDNS struct{ deps Deps }

// zoneOf is the zone of the panel that has a name; false: there is none.
func (v reverseDNS) zoneOf(ctx context.Context, name string) (zone projections.Resource, is bool, err error) {
	var above []string
	for _, rest, more := strings.Cut(name, "."); more && rest != ""; _, rest, more = strings.Cut(rest, ".") {
		above = append(above, rest)
	}
	kind, _ := hosting.KindNamed("dns_zone")
	found, err := v.deps.Tables.For(projections.System).Hosting().OfKind(ctx, kind, projections.Listing{
		Filters: []projections.Filter{{Field: "origin", Op: "in", Value: above}}, Limit: int64(len(above)),
	})
	if err != nil || len(found.Rows) == 0 {
		return zone, false, err
	}
	origin := func(r projections.Resource) int { return len(r.Spec["origin"]) }
	return slices.MaxFunc(found.Rows, func(a, b projections.Resource) int { return cmp.Compare(origin(a), origin(b)) }), true, nil
}

// publish adds the records of an order's machine. What a zone refuses, such as a record that
// it has already, is left out.
func (v reverseDNS) publish(ctx context.Context, r eventstore.RecordedEvent) error {
	id := uuid.MustParse(r.Stream.ID)
	place, err := placeOf(ctx, v.deps.Tables, id)
	if err != nil || place == nil {
		return err
	}
	_, m, is, err := (&PlanChanges{deps: v.deps}).machineOf(ctx, id)
	if err != nil || !is || m.Hostname == "" {
		return err
	}
	for _, a := range place.Addresses {
		if err := v.add(ctx, r, dns.Reverse(netip.PrefixFrom(a.Address.Addr(), a.Address.Addr().BitLen())), m.Hostname+"."); err != nil {
			return err
		}
	}
	return nil
}

func (v reverseDNS) add(ctx context.Context, r eventstore.RecordedEvent, name, host string) error {
	zone, is, err := v.zoneOf(ctx, name)
	if err != nil || !is {
		return err
	}
	numbers, err := v.deps.Store.NextIDs(ctx, "dns_record")
	if err != nil {
		return err
	}
	record := &hosting.DNSRecord{Zone: zone.ID, Type: dns.PTR, Name: name, Data: host, IsActive: true}
	hosting.Complete(record, hosting.Place{ID: numbers[0], Tenant: zone.Tenant, Parent: zone.Spec})
	return v.execute(ctx, r, name, hosting.Request{
		Ref: hosting.Ref{Kind: "dns_record", ID: numbers[0]}, Tenant: zone.Tenant, Spec: record.Fields().Values(),
	})
}

// execute carries out what follows from an event, once; a refusal is final.
func (v reverseDNS) execute(ctx context.Context, r eventstore.RecordedEvent, name string, command domain.Command) error {
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("ptr/"+name)), Actor: "system:reactions"}
	_, err := v.deps.Store.Execute(ctx, cause, command)
	if refusal := (*domain.Error)(nil); errors.As(err, &refusal) {
		return nil
	}
	return err
}

// withdraw removes the records of a machine that has gone. A record that names another host
// by now stays.
func (v reverseDNS) withdraw(ctx context.Context, r eventstore.RecordedEvent) error {
	ref := hosting.RefOf(r.Stream)
	scope := v.deps.Tables.For(projections.System).Hosting()
	found, err := scope.Recorded(ctx, ref)
	row, known := found[ref]
	if err != nil || !known {
		return err
	}
	var m hosting.Machine
	if err := row.Load(&m); err != nil || m.Hostname == "" {
		return err
	}
	for _, address := range m.Addresses {
		prefix, err := netip.ParsePrefix(address)
		if err != nil {
			return err
		}
		if err := v.remove(ctx, r, dns.Reverse(netip.PrefixFrom(prefix.Addr(), prefix.Addr().BitLen())), m.Hostname+"."); err != nil {
			return err
		}
	}
	return nil
}

func (v reverseDNS) remove(ctx context.Context, r eventstore.RecordedEvent, name, host string) error {
	zone, is, err := v.zoneOf(ctx, name)
	if err != nil || !is {
		return err
	}
	parts, err := v.deps.Tables.For(projections.System).Hosting().PartsOf(ctx, "dns_record", "zone", zone.ID)
	if err != nil {
		return err
	}
	for _, part := range parts {
		var record hosting.DNSRecord
		if err := part.Load(&record); err != nil {
			return err
		}
		if record.Type == dns.PTR && record.Data == host && dns.Full(record.Name, record.ZoneOrigin) == name {
			return v.execute(ctx, r, name, hosting.Remove{Ref: part.Ref()})
		}
	}
	return nil
}
