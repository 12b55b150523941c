package projections

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// operations is the work that outlasts the request that asked for it: how far
// it is, and what came of it (docs/sync.md). Of some work there is one at a
// time: one installation in a site, one comparison of a tenant, one rebuild of a
// read table.
var operations = New("operations", `
	create table operations (
		id            uuid   primary key,
		kind          text   not null, -- install_cms, tenant_sync, projection_rebuild
		tenant        bigint,          -- null: the installation's own
		user_id       bigint not null, -- who asked; 0: nobody
		resource_type text   not null,
		resource_id   bigint not null,
		status        text   not null, -- queued, running, succeeded, failed
		projection    text   not null default '', -- the read table that is rebuilt, of that kind
		install       jsonb,           -- what is installed, of that kind
		sync          jsonb,           -- what a comparison may change, of that kind
		result        jsonb  not null default '{}',
		subject       uuid,            -- of the person of whom the result may tell
		error         text   not null default '', -- code of the failure
		created_at    timestamptz not null,
		finished_at   timestamptz,
		version       int    not null -- of the operation's stream
	) with (fillfactor = 80);
	create unique index operations_install on operations (resource_id) where kind = 'install_cms' and finished_at is null;
	create unique index operations_sync on operations (resource_id) where kind = 'tenant_sync' and finished_at is null;
	create unique index operations_rebuild on operations (projection) where kind = 'projection_rebuild' and finished_at is null;
	create index operations_rebuilds on operations (projection, created_at desc) where kind = 'projection_rebuild';
	create index operations_of_tenant on operations (tenant);
	create index operations_subject on operations (subject) where subject is not null`,

	On(func(at eventstore.RecordedEvent, e hosting.OperationQueued) Change {
		return insert("operations", Row{
			{"id", at.Stream.ID},
			{"kind", e.Kind},
			{"tenant", domain.OrNull(e.Tenant)},
			{"user_id", e.User},
			{"resource_type", e.ResourceType},
			{"resource_id", e.ResourceID},
			{"status", "queued"},
			{"projection", e.Projection},
			{"install", e.Install},
			{"sync", e.Sync},
			{"created_at", now},
			{"version", at.Version},
		})
	}).
		Unique("operations_install", busy("An installation is already running.")).
		Unique("operations_sync", busy("A comparison is already running.")).
		Unique("operations_rebuild", errRunning("The read table")),
	operation(func(hosting.OperationStarted) Row { return Row{{"status", "running"}} }),
	operation(func(e hosting.OperationProgressed) Row {
		result := merging.call(without("drift"), orEmpty(e.Values())) // what was said of an earlier subject goes
		return Row{{"result", result}, {"subject", domain.OrNull(e.SubjectID)}}
	}),
	operation(func(e hosting.OperationSucceeded) Row {
		return Row{{"status", "succeeded"}, {"result", merged(orEmpty(e.Result))}, {"finished_at", now}}
	}),
	operation(func(e hosting.OperationFailed) Row {
		return Row{{"status", "failed"}, {"error", e.Code}, {"finished_at", now}}
	}),
	erasing("operations", Row{{"result", without("drift")}}),
).ReadBy("operations", operators, ofTenant("tenant"))

// busy is the refusal of what may run only once at a time.
func busy(message string) error {
	return &domain.Error{Code: domain.Conflict, Reason: "in_progress", Message: message}
}

// operation is what an event does to the row of its operation.
func operation[E domain.Event](set func(E) Row) Handler {
	return On(func(at eventstore.RecordedEvent, e E) Change {
		return update("operations", its(at), append(set(e), Column{"version", at.Version}))
	})
}

func orEmpty(v field.Values) field.Values {
	if v == nil {
		return field.Values{}
	}
	return v
}

// An Operation is one as callers see it.
type Operation struct {
	ID           uuid.UUID
	Kind         string
	Tenant       *int64
	UserID       int64 // who asked
	ResourceType string
	ResourceID   int64
	Projection   string // the read table that is rebuilt, of that kind
	Status       string
	Install      *hosting.Installation
	Sync         *hosting.Sync
	Result       field.Values // so far
	Error        string       // code of the failure, or blank
	CreatedAt    time.Time
	FinishedAt   *time.Time
	Version      int // of the operation's stream
}

// IsOver tells whether nothing more will come of it.
func (o *Operation) IsOver() bool { return o.FinishedAt != nil }

const selectOperations = `select id, kind, tenant, user_id, resource_type, resource_id, projection, status, install, sync, result, error,
	created_at, finished_at, version from operations`

// Operation returns one of the caller's tenant; superusers reach all.
func (s HostingReader) Operation(ctx context.Context, id uuid.UUID) (Operation, error) {
	w := s.caller.tenantOrAll("tenant")
	w.and("id = ?", id)
	return one[Operation](ctx, s.db, "Operation", selectOperations, w)
}

// OpenOperation is the one of a kind that is not over yet, about a resource.
func (s HostingReader) OpenOperation(ctx context.Context, kind string, about hosting.Ref) (Operation, bool, error) {
	w := s.caller.tenantOrAll("tenant")
	w.and("kind = ?", kind)
	w.and("resource_type = ?", about.Kind)
	w.and("resource_id = ?", about.ID)
	w.conditions = append(w.conditions, "finished_at is null")
	return maybe(one[Operation](ctx, s.db, "Operation", selectOperations, w))
}

// OpenRebuild is the rebuild of a read table that is not over yet.
func (s OperationsReader) OpenRebuild(ctx context.Context, projection string) (Operation, bool, error) {
	w := s.caller.operators()
	w.and("projection = ?", projection)
	w.conditions = append(w.conditions, "kind = 'projection_rebuild'", "finished_at is null")
	return maybe(one[Operation](ctx, s.db, "Operation", selectOperations, w))
}

// LatestRebuilds are the last rebuilds that were asked for, one of each read table.
func (s OperationsReader) LatestRebuilds(ctx context.Context) ([]Operation, error) {
	w := s.caller.operators()
	w.conditions = append(w.conditions, "kind = 'projection_rebuild'")
	return list[Operation](
		ctx, s.db, `select distinct on (projection)`+strings.TrimPrefix(selectOperations, "select"), w,
		" order by projection, created_at desc",
	)
}

// compared are the handlers of what a comparison with the engine leads to.
func compared() []Handler {
	return []Handler{
		On(func(at eventstore.RecordedEvent, _ hosting.PushRequested) Change { return wished(at) }),
		On(func(at eventstore.RecordedEvent, e hosting.Adopted) Change {
			return stated(at, Column{"spec", merged(e.Values())})
		}).refusingBy(takenSets),
		On(func(at eventstore.RecordedEvent, _ hosting.Synced) Change {
			return update("resources", resource(at), Row{{"synced_at", now}, {"version", at.Version}})
		}),
	}
}

// stating takes an event that changes nothing of a resource.
func stating[E domain.Event]() Handler {
	return On(func(at eventstore.RecordedEvent, _ E) Change { return stated(at) })
}

// OfTenant are all resources of a tenant that the engine may have: those that
// are leaving or in the bin as well, parents before their parts.
func (s HostingReader) OfTenant(ctx context.Context, tenant int64) ([]Resource, error) {
	w := s.caller.operators()
	w.and("r.tenant = ?", tenant)
	w.conditions = append(w.conditions, "r.status <> 'gone'")
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.created_at, r.kind, r.id")
}

// An AuditReader reads evidence packs and the looks at the log.
type AuditReader Scope

// Audit returns the reader of the audit.
func (s Scope) Audit() AuditReader { return AuditReader(s) }

// A PackRow is an evidence pack that was asked for, with what has become of its operation.
type PackRow struct {
	Operation uuid.UUID
	Status    string
	Error     string
	Size      int64
	AskedAt   time.Time
}

// EvidencePacks are the packs of an order that the caller may have, the latest first.
func (s AuditReader) EvidencePacks(ctx context.Context, order uuid.UUID) ([]PackRow, error) {
	w := s.caller.tenantOrAll("p.tenant")
	w.and("p.order_id = ?", order)
	return list[PackRow](ctx, s.db, `select p.operation, o.status, o.error, p.size, p.asked_at from evidence_packs p
		join operations o on o.id = p.operation`, w,
		" order by p.asked_at desc, p.operation limit 5")
}

// EvidencePack is the file of a pack that the caller may have.
func (s AuditReader) EvidencePack(ctx context.Context, operation uuid.UUID) ([]byte, error) {
	w := s.caller.tenantOrAll("tenant")
	w.and("operation = ?", operation)
	w.conditions = append(w.conditions, "file is not null")
	found, err := one[struct{ File []byte }](ctx, s.db, "Evidence pack", `select file from evidence_packs`, w)
	return found.File, err
}

// A LogLook is the first one in an hour that an actor took at a stream. The rows are no
// projection of the log: they stand in a table beside it (docs/audit.md, "Who has looked").
type LogLook struct {
	ID        int64
	Stream    string
	Tenant    *int64
	Actor     string
	CreatedAt time.Time
}

var looksBy = listRules{
	columns: "l.id, l.stream, l.tenant, l.actor, l.created_at", from: "log_looks l", id: "l.id",
	fields: map[string]string{
		"id": "l.id", "stream": "l.stream", "tenant": "l.tenant", "actor": "l.actor", "looked_at": "l.created_at",
		"created_at": "l.created_at", "updated_at": "l.created_at",
	},
}

// Looks lists who has looked at streams of the caller's tenant; to superusers at all
// streams: by stream, tenant, actor, looked_at.
func (s AuditReader) Looks(ctx context.Context, l Listing) (Listed[LogLook], error) {
	return part[LogLook](ctx, s.db, looksBy, s.caller.tenantOrAll("l.tenant"), l)
}
