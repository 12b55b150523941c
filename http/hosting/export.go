package hosting

import (
	"context"
	"net/http"
	"strings"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/export"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// The data export of a tenant (docs/tenants.md, "Data export"). It only reads, so it can be
// had while the tenant is suspended too.

// mostExports is how many archives a process makes at a time. Others wait.
const mostExports = 2

// An exporter makes archives.
type exporter struct {
	callers   *caller.Callers
	snapshots Snapshots
	exports   []export.Part
	kinds     *collection
	tenants   *tenants
	endpoints *endpoints
	turns     chan struct{}
}

func (e *exporter) route() route.Route {
	return route.File(tenantPath+"export/", "What the panel knows of a tenant, as a .zip", e.export).As("tenant_export").
		Of(e.tenants.collection.kind.Class).For(e.callers.TenantAdmin()).Finding(e.tenants.findAdministered).
		Sending("application/zip", map[string]any{"type": "string", "format": "binary"}).Caching("no-store").
		Saying(
			"Records as JSON, zones as zone files, invoices as PDF; never a secret, and no file of a site. A " +
				"suspended tenant has it too, and administrators of the parent.",
		)
}

func (e *exporter) export(ctx context.Context, c route.Call) (*route.Document, error) {
	select {
	case e.turns <- struct{}{}:
		defer func() { <-e.turns }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	w := c.Subject.(*resource) //nolint:forcetypeassert // found by findAdministered
	of := projections.Caller{User: caller.Of(c).ID, Tenant: w.ID, Admin: true}
	snapshot := func(ctx context.Context, read func(projections.Scope) error) error {
		return e.snapshots.Snapshot(ctx, of, read)
	}
	file, err := export.Make(ctx, e.callers.Now(), specOf(w).Language, snapshot, append([]export.Part{e.recordsOf(w)}, e.exports...)...)
	if err != nil {
		return nil, err
	}
	name := specOf(w).Slug + "-" + e.callers.Now().Format(time.DateOnly) + ".zip"
	return &route.Document{
		Type: "application/zip", File: file,
		Header: http.Header{"Content-Disposition": {`attachment; filename="` + name + `"`}},
	}, nil
}

// recordsOf is the tenant with its records of all kinds, and its zones as zone files.
func (e *exporter) recordsOf(w *resource) export.Part {
	return func(ctx context.Context, scope projections.Scope, to *export.Archive) error {
		if err := to.File("tenant.json", append((&hosted{resource: w, now: e.callers.Now()}).Fields().AppendJSON(nil), '\n')); err != nil {
			return err
		}
		for _, kind := range hosting.Kinds {
			if !kind.Announced() {
				continue
			}
			if err := e.kinds.named(kind.Name).export(ctx, scope, to); err != nil {
				return err
			}
		}
		endpoints := func(p *projections.WebhookEndpoint) field.Set { return (&endpoint{WebhookEndpoint: *p}).Fields() }
		return export.Records(ctx, to, e.endpoints.collection.kind.Collection+".json", scope.Notices().WebhookEndpoints, endpoints)
	}
}

// export writes the records of the kind as the API shows them.
func (k *collection) export(ctx context.Context, scope projections.Scope, to *export.Archive) error {
	list := func(ctx context.Context, l projections.Listing) (shown projections.Listed[hosted], err error) {
		found, err := scope.Hosting().OfKind(ctx, k.kind, l)
		if err != nil {
			return shown, err
		}
		shown.Count = found.Count
		shown.Rows, err = k.shown(ctx, scope, found.Rows)
		return shown, err
	}
	err := export.Records(ctx, to, k.kind.Collection+".json", list, (*hosted).Fields)
	if err == nil && k.kind.Serial {
		err = k.exportZones(ctx, scope, to)
	}
	return err
}

// exportZones writes the kind's zones as zone files.
func (k *collection) exportZones(ctx context.Context, scope projections.Scope, to *export.Archive) error {
	for offset := int64(0); ; {
		found, err := scope.Hosting().OfKind(
			ctx, k.kind, projections.Listing{Order: []projections.Ordering{{Field: "created_at"}}, Offset: offset},
		)
		if err != nil {
			return err
		}
		for _, row := range found.Rows {
			zone, err := scope.Hosting().Zone(ctx, row.ID, k.nameServers)
			if err == nil {
				err = to.File("zones/"+zoneFile(zone.Origin), []byte(zone.File()))
			}
			if err != nil {
				return err
			}
		}
		if offset += int64(len(found.Rows)); offset >= found.Count || len(found.Rows) == 0 {
			return nil
		}
	}
}

// zoneFile is the name of the file of a zone. Names of reverse zones may have a slash.
func zoneFile(origin string) string {
	return strings.ReplaceAll(strings.TrimSuffix(origin, "."), "/", "-") + ".zone"
}
