package hosting

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// Comparing a tenant's records with the engine's (docs/sync.md, "Comparing").

func (s *jobs) syncRoute() route.Route {
	return route.Post(tenantPath+"sync/", "Compare the tenant's records with the hosting engine's", s.syncTenant).
		As("tenant_sync").Of("Tenant").With(http.StatusAccepted).OrWith(http.StatusOK).For(s.callers.TenantAdmin()).
		Finding(s.tenants.findOwn).
		Checking(route.Check(checkSync)).Resuming(s.showSync).
		Taking(field.Flag("wait", new(bool)).Doc("Wait for the result, 25 seconds at most.")).
		Saying("What the engine lacks, has refused or was never told is pushed; what differs is reported. One runs at a time.").
		Failing(http.StatusServiceUnavailable, "The hosting engine does not answer (engine_unavailable).")
}

// A syncForm is the body of a request for a comparison.
type syncForm struct{ hosting.Sync }

// Fields are the form.
func (f *syncForm) Fields() field.Set {
	return field.Set{
		field.Flag("dry_run", &f.DryRun).Default(false).Doc("Change nothing; tell what would be."),
		field.Flag("repair", &f.Repair).Default(false).Doc("Overwrite what differs at the engine."),
		field.Flag("adopt", &f.Adopt).Default(false).Doc("Take over what differs from the engine."),
	}
}

func checkSync(_ context.Context, _ route.Call, f *syncForm, wrong *field.Errors) error {
	if f.Repair && f.Adopt {
		wrong.Add(field.NonField, "Send either repair or adopt.")
	}
	return nil
}

// A syncAnswer is a queued comparison or, with wait, its result.
type syncAnswer struct {
	Job    uuid.UUID
	Status string
	Tenant int64

	over                      bool
	SyncedAt                  time.Time
	Created, Updated, Missing int64
	Drift                     json.RawMessage
}

// Fields are the answer. A comparison that has not ended shows the URL to poll.
func (a *syncAnswer) Fields() field.Set {
	open, over := a.Job != uuid.Nil && !a.over, a.over
	return field.Set{
		field.UUID("job_id", &a.Job).ReadOnly().When(open),
		field.Text("status", &a.Status).Among(statusesOf(hosting.OperationStatuses)...).ReadOnly().When(open),
		field.Int("tenant", &a.Tenant).ReadOnly(),
		field.Time("synced_at", &a.SyncedAt).ReadOnly().When(over),
		field.Int("created", &a.Created).ReadOnly().When(over),
		field.Int("updated", &a.Updated).ReadOnly().When(over),
		field.Int("missing", &a.Missing).ReadOnly().When(over).Doc("Records that the engine had, and has no more."),
		field.Any("drift", &a.Drift).ReadOnly().When(over).Doc("Fields that differ: resource, id, field, panel, engine."),
	}
}

// answerOf is the answer for a comparison.
func answerOf(o projections.Operation) (*syncAnswer, error) {
	a := &syncAnswer{Job: o.ID, Status: o.Status, Tenant: o.ResourceID}
	if o.Status != string(hosting.OperationDone) {
		return a, nil
	}
	a.over = true
	drift, told := o.Result["drift"]
	if a.Drift = drift; !told { // the person whose data it held has been erased
		a.Drift = json.RawMessage("[]")
	}
	return a, field.Set{
		field.Time("synced_at", &a.SyncedAt), field.Int("created", &a.Created), field.Int("updated", &a.Updated),
		field.Int("missing", &a.Missing),
	}.Load(o.Result)
}

func (s *jobs) syncTenant(ctx context.Context, c route.Call, f *syncForm) (*syncAnswer, error) {
	o, err := s.beginSync(ctx, c, f)
	if err != nil {
		return nil, err
	}
	if c.Param("wait") == "true" {
		if o, err = s.awaitJob(ctx, o.ID); err != nil {
			return nil, err
		}
	}
	switch {
	case o.Status == string(hosting.OperationBroken):
		return nil, engineAway
	case o.Status == string(hosting.OperationDone):
		c.Status(http.StatusOK)
	}
	return answerOf(o)
}

var engineAway = &route.Refusal{
	Status: http.StatusServiceUnavailable, Detail: "The hosting engine is temporarily unavailable.",
	Code: "engine_unavailable", After: 30 * time.Second,
}

// beginSync starts a comparison. A running comparison is returned instead.
func (s *jobs) beginSync(ctx context.Context, c route.Call, f *syncForm) (projections.Operation, error) {
	about := hosting.Ref{Kind: "tenant", ID: c.ID("id")}
	for range record.Tries {
		running, is, err := s.callers.System().Hosting().OpenOperation(ctx, hosting.TenantSync, about)
		if err != nil || is {
			c.Location(hosting.OperationPath(running.ID))
			return running, err
		}
		id := uuid.New()
		c.Location(hosting.OperationPath(id))
		err = s.jobs.Sync(ctx, c.Cause(), hosting.QueueOperation{
			ID: id, Kind: hosting.TenantSync, Tenant: about.ID, User: caller.Of(c).ID, About: about, Sync: &f.Sync,
		})
		var refusal *domain.Error
		if errors.As(err, &refusal) && refusal.Reason == "in_progress" {
			continue // another request has started one
		}
		return projections.Operation{
			ID: id, Kind: hosting.TenantSync, Status: string(hosting.OperationQueuedStatus), ResourceID: about.ID,
		}, err
	}
	return projections.Operation{}, domain.Refuse(domain.Conflict, "Conflict, please retry.")
}

// showSync answers a repeated request whose first answer was lost.
func (s *jobs) showSync(ctx context.Context, c route.Call, location string) (route.Answer, error) {
	o, err := s.jobOf(ctx, c, location)
	if err != nil {
		return nil, err
	}
	o.Status = string(hosting.OperationQueuedStatus)
	a, err := answerOf(o)
	if err != nil {
		return nil, err
	}
	return a.Fields(), nil
}
