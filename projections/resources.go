package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// resources holds the hosting resources of all kinds, tenants included: their
// desired state, and the state at the engine.
var resources = New("resources", resourcesSQL(`
	create table resources (
		kind        text   not null,
		id          bigint not null,
		tenant      bigint not null, -- a tenant is its own
		status      text   not null, -- wanted, running, changing, leaving, gone, refused
		spec        jsonb  not null, -- as wanted, and what the engine has reported
		subject     uuid,            -- of the person whose data the spec holds
		engine_id   bigint,
		external    text   not null default '', -- the hypervisor's id
		wish        int    not null, -- version of the last thing that was asked for
		sync_status text   not null,
		sync_error  text   not null default '', -- code of the engine's refusal
		requested_for text not null, -- "order:<uuid>", or blank
		created_at  timestamptz not null,
		updated_at  timestamptz not null,
		version     int    not null, -- of the resource's stream
		disabled_by       text[]  not null default '{}', -- why it is off, whatever is wanted
		trashed_at  timestamptz,                   -- null: not in the bin
		synced_at   timestamptz,                   -- of a tenant: when its records were last compared with the engine's
		leaving     boolean not null generated always as (status = 'leaving') stored, -- for its index, `+
	`so that a change of status writes none
		kept        boolean not null generated always as (status not in ('leaving', 'gone')) stored,
		present     boolean not null generated always as (status not in ('leaving', 'gone') and trashed_at is null) stored,
		listed boolean not null generated always as (status not in ('leaving', 'gone') and trashed_at is null `+
	`or status = 'leaving' and sync_status = 'error') stored, -- present, or refused to go
		active      boolean not null generated always as (coalesce(spec ->> 'is_active', 'true') = 'true' `+
	`and disabled_by = '{}' and trashed_at is null) stored,
		{looked}
		{alike}
		search      text   not null generated always as ({searched}) stored,
		primary key (kind, id),
		unique (tenant, kind, id)
	) with (fillfactor = 80);
	create index resources_newest on resources (kind, tenant, created_at desc, id desc) include (parent, present) where listed;
	create index resources_newest_of_all on resources (kind, created_at desc, id desc) include (tenant, parent, present) where listed;
	create index resources_requested_for on resources (requested_for) where requested_for <> '';
	create index resources_engine on resources (kind, engine_id) where engine_id is not null;
	create index resources_leaving on resources (tenant, kind) where leaving;
	create index resources_children on resources (parent) where kind = 'tenant' and parent is not null;
	create index resources_subject on resources (subject) where subject is not null;
	{lookups}
	{sets};
	{quotas};`+zonesSQL), append([]Handler{
	On(func(at eventstore.RecordedEvent, e hosting.Requested) Change {
		return insert("resources", append(resource(at), Row{
			{"tenant", e.Tenant},
			{"status", "wanted"},
			{"spec", e.Values()},
			{"subject", domain.OrNull(e.SubjectID)},
			{"wish", at.Version},
			{"sync_status", "pending"},
			{"requested_for", e.For},
			{"created_at", now},
			{"updated_at", now},
			{"version", at.Version},
		}...))
	}).refusingBy(takenSets),
	On(func(at eventstore.RecordedEvent, e hosting.Changed) Change {
		return wished(at, Column{"spec", merged(e.Values())})
	}).refusingBy(takenSets),
	On(func(at eventstore.RecordedEvent, e hosting.Disabled) Change {
		return wished(at, Column{"disabled_by", added(e.By)})
	}),
	On(func(at eventstore.RecordedEvent, e hosting.Enabled) Change {
		return wished(at, Column{"disabled_by", removed(e.By)})
	}),
	// The reasons why a tenant is suspended cause no request to the engine.
	On(func(at eventstore.RecordedEvent, e hosting.ServiceSuspended) Change {
		return stated(at, Column{"disabled_by", added(e.By)})
	}),
	On(func(at eventstore.RecordedEvent, e hosting.ServiceResumed) Change {
		return stated(at, Column{"disabled_by", removed(e.By)})
	}),
	On(func(at eventstore.RecordedEvent, _ hosting.MovedToBin) Change {
		return wished(at, Column{"trashed_at", now})
	}),
	On(func(at eventstore.RecordedEvent, _ hosting.Restored) Change {
		return wished(at, Column{"trashed_at", null})
	}).refusingBy(takenSets),
	On(confirmed),
	On(func(at eventstore.RecordedEvent, _ hosting.RemovalRequested) Change {
		return stated(
			at, Column{"status", "leaving"}, Column{"wish", at.Version}, Column{"sync_status", "pending"},
			Column{"sync_error", ""},
		)
	}),
	On(func(at eventstore.RecordedEvent, _ hosting.Removed) Change {
		return stated(at, Column{"status", "gone"}, Column{"sync_status", "synced"}, Column{"sync_error", ""})
	}),
	On(func(at eventstore.RecordedEvent, e hosting.EngineRefused) Change {
		return stated(
			at, Column{"status", either(leaving, keep, word("refused"))}, Column{"sync_status", "error"},
			Column{"sync_error", e.Code},
		)
	}),
	erasing("resources", Row{{"spec", withoutPersonal()}}),
	limited(), limitedParts(), limitedSubTenants(),
}, slices.Concat(inZones(), issuances(), compared(), notedOfMachines())...)...).
	ReadBy("resources", operators, ofTenant("tenant"), ownTenants, subTenants).Beside(usage)

// leaving tells whether the resource is to be removed: it stays so until it is gone.
var leaving = among(col("status"), "leaving")

// wished is the change of a request: the resource has to be changed at the
// engine, or still to be created.
func wished(at eventstore.RecordedEvent, set ...Column) Change {
	unmade := or(
		among(col("status"), "wanted"),
		and(among(col("status"), "refused"), and(missing(col("engine_id")), among(col("external"), ""))),
	)
	return stated(at, append(set, Column{"wish", at.Version}, Column{"sync_status", "pending"}, Column{"sync_error", ""},
		Column{"status", either(leaving, keep, either(unmade, word("wanted"), word("changing")))})...)
}

// stated changes the row of the event's resource. It causes no request to the engine.
func stated(at eventstore.RecordedEvent, set ...Column) Change {
	return update("resources", resource(at), changed(at, set))
}

// confirmed is what the engine has reported. A resource that was changed again
// meanwhile is not there yet.
func confirmed(at eventstore.RecordedEvent, e hosting.EngineConfirmed) Change {
	late := no
	if e.Version != 0 {
		late = before(e.Version, col("wish"))
	}
	set := []Column{
		{"spec", merged(observed(e))},
		{"status", either(leaving, keep, either(late, word("changing"), word("running")))},
		{"sync_status", either(or(leaving, late), keep, word("synced"))},
		{"sync_error", either(or(leaving, late), keep, word(""))},
	}
	if e.EngineID != 0 {
		set = append(set, Column{"engine_id", e.EngineID})
	}
	if e.External != "" {
		set = append(set, Column{"external", e.External})
	}
	return stated(at, set...)
}

// ownTenants is the condition for the tenants that a user is a member of.
const ownTenants = `kind = 'tenant' and id = any ((select scope_tenants())::bigint[])`

// subTenants is the condition for the sub-tenants of the tenant for which an administrator
// acts. Those that orders made are none.
const subTenants = `kind = 'tenant' and parent = (select scope_administered()) and requested_for = '' and present`

// resourcesSQL fills in the search text of each kind: its searchable fields in
// lower case, one line each.
func resourcesSQL(sql string) string {
	searched := ofEachKind("''", func(k hosting.Kind) string {
		if len(k.Search) == 0 {
			return ""
		}
		texts := make([]string, len(k.Search))
		for i, name := range k.Search {
			texts[i] = "coalesce(spec ->> '" + name + "', '')"
		}
		return "lower(" + strings.Join(texts, " || chr(10) || ") + ")"
	})
	return strings.NewReplacer(
		"{searched}", searched, "{looked}", lookedSQL(), "{lookups}", lookupsSQL(), "{alike}", alikeSQL(), "{sets}",
		setsSQL(), "{quotas}", quotasSQL(),
	).Replace(sql)
}

// resource is the key of the row of the event's resource.
func resource(at eventstore.RecordedEvent) Row {
	return Row{{"kind", at.Stream.Category}, {"id", at.Stream.ID}}
}

func observed(e hosting.EngineConfirmed) field.Values {
	if e.Observed == nil {
		return field.Values{}
	}
	return e.Observed
}

// A HostingReader reads hosting resources, tenants included, and operations on them.
type HostingReader Scope

// Hosting returns the reader of hosting.
func (s Scope) Hosting() HostingReader { return HostingReader(s) }

// A Resource is one hosting resource as callers see it.
type Resource struct {
	Kind         string
	ID           int64
	Tenant       int64
	TenantName   string
	TenantAt     int // version of the tenant's stream
	Status       hosting.Status
	Spec         field.Values // the desired state; see Active
	Active       bool         // desired to be active, and neither disabled nor in the bin
	DisabledBy   []string     // the reasons why it is switched off
	TrashedAt    *time.Time   // nil: not in the bin
	SyncedAt     *time.Time   // time of a tenant's last comparison with the engine; nil: never
	Wish         int          // version of the last request
	Subject      *uuid.UUID
	EngineID     *int64
	External     string
	SyncStatus   string // pending, synced, error
	SyncError    string // code of the engine's refusal, or blank
	RequestedFor string // "order:<uuid>", or blank
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Version      int // of the resource's stream
}

const resourceColumns = `r.kind, r.id, r.tenant, coalesce(t.spec ->> 'name', '') as tenant_name,
	coalesce(t.version, 0) as tenant_at, r.status, r.spec, r.active, r.disabled_by, r.trashed_at, r.synced_at, r.wish,
	r.subject, r.engine_id, r.external, r.sync_status, r.sync_error, r.requested_for, r.created_at, r.updated_at, r.version`

const (
	fromResources = ` from resources r` + namedTenant
	// A plan may be older than the tenants, and made for next to none: by this one it finds one.
	namedTenant = ` left join lateral
		(select id, spec, version from resources where kind = 'tenant' and id = r.tenant offset 0) t on true`
	// looked up once for all
	itsTenant = ` left join (select id, spec, version from resources where kind = 'tenant' and id = ? offset 0) t on t.id = r.tenant`
)

// Ref names the resource.
func (r *Resource) Ref() hosting.Ref { return hosting.Ref{Kind: r.Kind, ID: r.ID} }

// Load fills the spec of the resource's kind, such as a [hosting.Site]. The spec's
// active flag is the effective one.
func (r *Resource) Load(spec hosting.Spec) error {
	if err := spec.Fields().Load(r.values()); err != nil {
		return fmt.Errorf("load %s %d: %w", r.Kind, r.ID, err)
	}
	return nil
}

// Number is a number of the spec; 0: it has none of this name.
func (r *Resource) Number(name string) (n int64) {
	_ = json.Unmarshal(r.Spec[name], &n)
	return n
}

func (r *Resource) values() field.Values {
	if _, can := r.Spec["is_active"]; !can || r.Active {
		return r.Spec
	}
	values := maps.Clone(r.Spec)
	values["is_active"] = json.RawMessage("false")
	return values
}

// Draft returns the resource as the draft of a change.
func (r *Resource) Draft() (*hosting.Draft, error) {
	kind, _ := hosting.KindNamed(r.Kind)
	d := hosting.NewDraft(kind)
	d.ID, d.Tenant, d.Version, d.DisabledBy, d.Found = r.ID, r.Tenant, r.Version, r.DisabledBy, r.values()
	return d, r.Load(d.Spec)
}

// Resource returns one resource of the caller's tenant, or any for superusers. A
// resource that is leaving, gone or in the bin is not found.
func (s HostingReader) Resource(ctx context.Context, ref hosting.Ref) (Resource, error) {
	return s.resource(ctx, ref, present)
}

// Resources lists the resources of a kind in the caller's tenant, newest first;
// limit 0 is 100.
func (s HostingReader) Resources(ctx context.Context, kind string, limit int) ([]Resource, error) {
	w := s.caller.tenant("r.tenant")
	w.and("r.kind = ?", kind)
	w.conditions = append(w.conditions, present)
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, w.newest("r.created_at", "r.id", limit))
}

// Acknowledged tells whether the engine has confirmed or refused a request, or a
// later one. The request is given by the version of the stream after it. Removed
// resources count as well.
func (s HostingReader) Acknowledged(ctx context.Context, ref hosting.Ref, version int) (bool, error) {
	w := s.caller.tenantOrAll("r.tenant")
	w.and("r.kind = ?", ref.Kind)
	w.and("r.id = ?", ref.ID)
	w.and("r.wish >= ?", version)
	answered, err := value[bool](ctx, s.db, `select exists (select from resources r`, w, ` and r.sync_status <> 'pending')`)
	if err != nil {
		err = fmt.Errorf("look at %s: %w", ref.Stream(), err)
	}
	return answered, err
}

// ofOrder is the condition on what an order has made. It names the rows of the index.
func (w *where) ofOrder(order uuid.UUID) {
	w.and("r.requested_for <> '' and r.requested_for = ?", "order:"+order.String())
}

// ResourcesOfOrder returns the resources of an order in any state, oldest first.
func (s HostingReader) ResourcesOfOrder(ctx context.Context, order uuid.UUID) ([]Resource, error) {
	w := s.caller.operators()
	w.ofOrder(order)
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.created_at, r.kind, r.id")
}

// MadeBy lists what orders have made for the caller's tenant and what is still there,
// oldest first.
func (s HostingReader) MadeBy(ctx context.Context, orders ...uuid.UUID) ([]Resource, error) {
	names := make([]string, len(orders))
	for i, id := range orders {
		names[i] = "order:" + id.String()
	}
	w := s.caller.tenantOrAll("r.tenant")
	w.conditions = append(w.conditions, present, "r.requested_for <> ''")
	w.and("r.requested_for = any(?)", names)
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.created_at, r.kind, r.id")
}

// issuances are what certificates go through beside the life of all kinds
// (docs/certificates.md): it stands in their specs, where lists find it.
func issuances() []Handler {
	return []Handler{
		On(func(at eventstore.RecordedEvent, e hosting.CertificateOrdered) Change {
			c := hosting.Certificate{Status: hosting.Ordering.Status(), OrderedAt: &e.At, Names: e.Names}
			spec := merging.call(
				merged(some(c, "status", "last_error", "ordered_at", "names")),
				copying.call(keep, word("replaces"), word("expires_at")),
			)
			return wished(at, Column{"spec", spec})
		}),
		On(func(at eventstore.RecordedEvent, e hosting.CertificateIssued) Change {
			c := hosting.Certificate{Status: hosting.Issued.Status(), ExpiresAt: &e.Ends}
			return stated(at, Column{"spec", merged(some(c, "status", "last_error", "expires_at", "failures", "failed_at"))})
		}),
		On(func(at eventstore.RecordedEvent, e hosting.CertificateFailed) Change {
			c := hosting.Certificate{Status: hosting.Failed.Status(), LastError: e.Code, FailedAt: &e.At}
			return stated(
				at,
				Column{"spec", merging.call(merged(some(c, "status", "last_error", "failed_at")), increment.call(keep, word("failures")))},
			)
		}),
		On(func(at eventstore.RecordedEvent, _ hosting.CertificateExpiring) Change { return stated(at) }),
		On(func(at eventstore.RecordedEvent, _ hosting.CertificateExpired) Change { return stated(at) }),
	}
}

// some are the named values of a certificate.
func some(c hosting.Certificate, names ...string) field.Values {
	return c.Fields().Only(names...).Values()
}
