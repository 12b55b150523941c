package audit

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// Packs are evidence packs that callers ask for. What is foreign to a caller is refused
// with domain.NotFound.
type Packs interface {
	// QueuePack begins an operation that makes a pack.
	QueuePack(ctx context.Context, cause domain.Metadata, who projections.Caller, id uuid.UUID, of audit.PackOf) error
	// PackFile is the .zip of a pack that the caller may have.
	PackFile(ctx context.Context, who projections.Caller, id uuid.UUID) ([]byte, error)
}

func (s *Area) packRoutes() []route.Route {
	return []route.Route{
		route.Post(audit.PacksPath, "Have an evidence pack made", s.orderPack).As("audit_pack_create").With(http.StatusAccepted).
			Checking(route.Check(checkPack)).Resuming(resumePack).
			Failing(http.StatusNotFound, "Nothing has happened there, or it is foreign.").
			Saying(
				"Of an order, a tenant or a period; of their intersection, if more is sent. Administrators of a " +
					"tenant get events of their tenant. The job at Location names the file.",
			),
		route.File(audit.PacksPath+
			"{uuid:uuid}/evidence.zip", "The file of an evidence pack", s.packFile).As("audit_pack_file").Caching("no-store").
			Sending("application/zip", nil).Failing(http.StatusNotFound, "There is no such pack, it is not made yet, or its day is over."),
	}
}

// A packOrder says what a pack is about.
type packOrder struct {
	order    *uuid.UUID
	tenant   *int64
	from, to *time.Time
}

// Fields are the request.
func (p *packOrder) Fields() field.Set {
	return field.Set{
		field.NullUUID("order", &p.order).Doc("All that came of this order."),
		field.NullInt("tenant", &p.tenant).Doc("Of this tenant."),
		field.NullTime("from", &p.from).Doc("Events of this moment or later."),
		field.NullTime("to", &p.to).Doc("Events of this moment or earlier."),
	}
}

func checkPack(_ context.Context, _ route.Call, p *packOrder, wrong *field.Errors) error {
	switch {
	case *p == packOrder{}:
		wrong.Add(field.NonField, "Send order, tenant, from or to.")
	case p.from != nil && p.to != nil && p.to.Before(*p.from):
		wrong.Add("to", "Ensure that this is not before from.")
	}
	return nil
}

// of is what the pack is about.
func (p *packOrder) of() (of audit.PackOf) {
	if p.order != nil {
		of.Order = *p.order
	}
	if p.tenant != nil {
		of.Tenant = *p.tenant
	}
	if p.from != nil {
		of.From = *p.from
	}
	if p.to != nil {
		of.To = *p.to
	}
	return of
}

// A packJob is a pack that is being made.
type packJob struct {
	id           uuid.UUID
	status, kind string
}

func newPackJob(id uuid.UUID) *packJob {
	return &packJob{id, string(hosting.OperationQueuedStatus), hosting.EvidencePack}
}

// Fields are the job.
func (j *packJob) Fields() field.Set {
	return field.Set{
		field.UUID("job_id", &j.id).ReadOnly().Doc("Of the operation, whose result names the file."),
		field.Text("status", &j.status).ReadOnly(),
		field.Text("kind", &j.kind).ReadOnly(),
	}
}

func (s *Area) orderPack(ctx context.Context, c route.Call, p *packOrder) (*packJob, error) {
	id := uuid.New()
	if err := s.Packs.QueuePack(ctx, c.Cause(), readerOf(c), id, p.of()); err != nil {
		return nil, err
	}
	c.Location(hosting.OperationPath(id))
	return newPackJob(id), nil
}

// resumePack answers a repeated request whose first answer was lost.
func resumePack(_ context.Context, _ route.Call, location string) (route.Answer, error) {
	id, err := hosting.OperationAt(location)
	if err != nil {
		return nil, err
	}
	return newPackJob(id).Fields(), nil
}

func (s *Area) packFile(ctx context.Context, c route.Call) (*route.Document, error) {
	file, err := s.Packs.PackFile(ctx, readerOf(c), c.UUID("uuid"))
	if err != nil {
		return nil, err
	}
	return &route.Document{
		Type: "application/zip", Body: file,
		Header: http.Header{"Content-Disposition": {`attachment; filename="evidence.zip"`}},
	}, nil
}
