package projections

import (
	"context"
	"time"

	"github.com/google/uuid"
)

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
