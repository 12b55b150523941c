package hosting

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/waiting"
	"hostpanel/projections"
)

// Jobs starts operations, which continue after their request (docs/sync.md). A
// second operation of the same kind is refused with the reason "in_progress".
type Jobs interface {
	// Installable are the systems that the engine can install.
	Installable(ctx context.Context) []hosting.CMS
	// Install begins an installation in a site.
	Install(context.Context, domain.Metadata, hosting.InstallationOrder) error
	// Sync begins a comparison of a tenant's records with the engine's.
	Sync(context.Context, domain.Metadata, hosting.QueueOperation) error
	// TakePassword returns the generated password of an installation, once;
	// empty: there is none, or it was taken before.
	TakePassword(ctx context.Context, operation uuid.UUID) (string, error)
}

const jobsPath = hosting.OperationsPath

// jobRoutes start operations and show their status.
func (s *jobs) routes() []route.Route {
	return append([]route.Route{
		route.Get(jobsPath+"{uuid:uuid}/", "How far an operation is", s.showJob).As("operation_read").Of("Operation").Finding(s.findJob).
			Saying("A password that was made up is shown once, to who asked for the work."),
		s.syncRoute(),
	}, s.cmsRoutes()...)
}

// A job is an operation as an answer shows it.
type job struct {
	projections.Operation
	password string // shown this once
}

// Fields are the operation.
func (j *job) Fields() field.Set {
	about, result := &j.ResourceID, j.result()
	if j.ResourceID == 0 {
		about = nil
	}
	return field.Set{
		field.UUID("id", &j.ID).ReadOnly(),
		field.Text("kind", &j.Kind).Among(hosting.OperationKinds...).ReadOnly(),
		field.Text("status", &j.Status).Among(statusesOf(hosting.OperationStatuses)...).ReadOnly(),
		field.Text("resource_type", &j.ResourceType).ReadOnly(),
		field.NullInt("resource_id", &about).ReadOnly(),
		field.Text("error", &j.Error).ReadOnly().Doc(
			"Why it failed, as a code: docroot_not_empty, not_supported, engine_unavailable and others.",
		),
		field.Any("result", &result).ReadOnly().Doc("What came of it; null until it has succeeded."),
		field.Time("created_at", &j.CreatedAt).ReadOnly(),
		field.NullTime("finished_at", &j.FinishedAt).ReadOnly(),
	}
}

func statusesOf(all []hosting.OperationStatus) (names []string) {
	for _, s := range all {
		names = append(names, string(s))
	}
	return names
}

// resultNames are the fields of the results of operations, in this order.
var resultNames = []string{
	"file", "events", "size", "expires_at", "cms", "version", "url", "admin_user", "admin_password", "database",
	"tenant", "synced_at", "created", "updated", "missing", "drift",
	"projection", "position", "different", "differences",
}

// result is the result of the operation; null: none yet.
func (j *job) result() json.RawMessage {
	if j.Status != string(hosting.OperationDone) {
		return json.RawMessage("null")
	}
	b := []byte{'{'}
	for _, name := range resultNames {
		value, has := j.Result[name]
		if name == "admin_password" && j.Install != nil {
			value, has = json.RawMessage("null"), true
			if j.password != "" {
				value = field.AppendText(nil, j.password)
			}
		}
		if !has {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(field.AppendText(b, name), ':'), value...)
	}
	return append(b, '}')
}

func (j *job) Tag() string { return record.Tag("operation", j.ID.String(), j.Version) }

func (s *jobs) findJob(ctx context.Context, c route.Call) (any, string, error) {
	o, err := s.callers.Scope(c).Hosting().Operation(ctx, c.UUID("uuid"))
	return record.Subject(&job{Operation: o}, err)
}

// showJob shows the user who started the operation a generated password, once.
// That answer has no ETag, because it cannot be repeated.
func (s *jobs) showJob(ctx context.Context, c route.Call) (*job, error) {
	j := c.Subject.(*job) //nolint:forcetypeassert // found by findJob
	mine := j.UserID == caller.Of(c).ID && j.Status == string(hosting.OperationDone)
	if mine && j.Install != nil && j.Install.Generated && c.Method == http.MethodGet {
		var err error
		if j.password, err = s.jobs.TakePassword(ctx, j.ID); err != nil {
			return nil, err
		}
	}
	if j.password != "" {
		c.Set("Cache-Control", "no-store")
		return j, nil
	}
	c.ETag(j.Tag())
	return j, nil
}

// jobOf is the operation at a location: "…/operations/<uuid>/".
func (s *jobs) jobOf(ctx context.Context, c route.Call, location string) (projections.Operation, error) {
	id, err := hosting.OperationAt(location)
	if err != nil {
		return projections.Operation{}, err
	}
	return s.callers.Scope(c).Hosting().Operation(ctx, id)
}

const jobWait = 25 * time.Second // for an operation, at most

// awaitJob waits until an operation has ended, or jobWait has passed.
func (s *jobs) awaitJob(ctx context.Context, id uuid.UUID) (o projections.Operation, err error) {
	err = waiting.For(ctx, s.changes, jobWait, func(ctx context.Context) (over bool, err error) {
		o, err = s.callers.System().Hosting().Operation(ctx, id)
		return o.IsOver(), err
	})
	return o, err
}
