package sagas

import (
	"context"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// The service of an active order ends when its money has gone back, was charged
// back, or an operator says so: it is suspended at once, and removed after a
// grace (docs/sagas.md, "Ending").

const endingDef = "deprovision/1"

func (s *Sagas) endingSteps() []step {
	return []step{
		{
			name: "suspend", says: "suspend the service and end its subscription", queue: localQueue, policy: s.policies.local,
			local: &local{do: s.suspendService},
		},
		{
			name: "remove", says: "remove what was made for the order, and all that is in its tenant", queue: localQueue, policy: s.policies.local,
			local: &local{do: s.removeService},
		},
		{
			name: "verify", says: "make sure that nothing of the order is left outside", queue: localQueue, policy: s.policies.left,
			wait: &until{ready: s.nothingLeft},
		},
	}
}

// ending is the run that ends the service of an order: "deprovision:<order>".
// It knows what the order's own run knew.
func (s *Sagas) ending(ctx context.Context, id uuid.UUID) (Start, error) {
	run, err := s.run(ctx, "provision:"+id.String())
	if err != nil {
		return Start{}, err
	}
	return Start{
		Key: "deprovision:" + id.String(), Def: endingDef, Steps: s.places([]string{"suspend", "grace", "remove", "verify"}), Job: run.Job, Order: id,
	}, nil
}

// ends tells whether a fact is the end of a service that ran.
func ends(fact domain.Event) bool {
	switch e := fact.(type) {
	case order.RefundCompleted:
		return e.Before == order.StatusActive
	case order.DisputeClosed:
		return e.Chargeback && e.Before == order.StatusActive
	case order.Cancelled:
		return e.Reason == order.Ended
	}
	return false
}

// suspendService lets all of the order rest, and says until when it is kept.
func (s *Sagas) suspendService(ctx context.Context, job Job) (Work, error) {
	o, _, err := eventstore.Fold(ctx, s.store, order.Decider, order.Stream(job.Order))
	if err != nil {
		return Work{}, err
	}
	commands, err := s.resting(ctx, job.Tenant, true)
	until := s.now().Add(s.times.RefundGrace).Unix()
	return Work{
		Commands: append(commands, billing.End{Order: job.Order, Reason: endOfService(o), At: s.now()}),
		Learn:    func(j *Job) { j.Until = until },
	}, err
}

// endOfService says why a subscription ends.
func endOfService(o order.Order) string {
	if o.Status == order.StatusCancelled {
		return "ended"
	}
	for _, d := range o.Disputes {
		if d.State == order.DisputeLost {
			return "chargeback"
		}
	}
	return "refunded"
}

// kept lasts until the grace of an order that has ended is over.
func (s *Sagas) kept(job Job) (bool, Work, error) {
	left := time.Unix(job.Until, 0).Sub(s.now())
	if left <= 0 {
		return true, Work{}, nil
	}
	return false, Work{}, wait("grace", min(left, s.times.BinLook))
}

// EndGrace lets the removal of a service that has ended begin now. Without one
// that waits for it, it is refused with domain.Conflict.
func (s *Sagas) EndGrace(ctx context.Context, cause domain.Cause, id uuid.UUID, reason string) error {
	if reason == "" {
		return domain.RefuseField("reason", "This field is required.")
	}
	const nothing = "No service of the order waits to be removed."
	run, err := s.runFor(ctx, "deprovision", id, nothing)
	if err != nil {
		return err
	}
	if run.Status != Ready || run.Place().Name != "grace" {
		return notNow(nothing)
	}
	return s.overrule(ctx, byOperator(cause, id), run, Pass{Key: run.Key, Name: "grace", Reason: reason}, nil)
}

// removeService asks for the removal of all that is in the order's tenant, and
// of the tenant, each by its name: an engine's own way to delete everything is
// never used.
func (s *Sagas) removeService(ctx context.Context, job Job) (Work, error) {
	if err := s.empty(ctx, job.Tenant, "deprovision:"+job.Order.String()); err != nil {
		return Work{}, err
	}
	commands := []domain.Command{account.RevokeMembership{User: job.User, Tenant: job.Tenant, At: s.now()}}
	if job.VM != 0 {
		commands = append(commands, hosting.Remove{Ref: hosting.Ref{Kind: "vm", ID: job.VM}})
	}
	return Work{Commands: append(commands, hosting.Remove{Ref: hosting.Ref{Kind: "tenant", ID: job.Tenant}})}, nil
}

// nothingLeft is when everything has gone, by our records and by the word of
// those outside (rule V3). The ledger says so then.
func (s *Sagas) nothingLeft(ctx context.Context, job Job) (bool, Work, error) {
	if gone, err := s.recordsGone(ctx, job); err != nil || !gone {
		return false, Work{}, err
	}
	live, err := s.liveEffects(ctx, job.Order)
	if err != nil {
		return false, Work{}, err
	}
	var rows []eventstore.Row
	for _, name := range live {
		gone, err := s.goneOutside(ctx, job, s.steps[name])
		if err != nil || !gone {
			return false, Work{}, err
		}
		rows = append(rows, goneRow(effectKey(job.Order, name))) // claims have ended with the records
	}
	return true, Work{Rows: rows}, nil
}

func (s *Sagas) recordsGone(ctx context.Context, job Job) (bool, error) {
	scope := s.tables.For(projections.System)
	refs := []hosting.Ref{{Kind: "tenant", ID: job.Tenant}, {Kind: "vm", ID: job.VM}}
	found, err := scope.Recorded(ctx, refs...)
	for _, r := range found {
		if r.Status != hosting.Gone {
			return false, err
		}
	}
	if err != nil {
		return false, err
	}
	left, err := scope.Belonging(ctx, job.Tenant, 1)
	return len(left) == 0, err
}

// makers are the steps of an order that make something outside that stays.
var makers = []string{"tenant.engine", "site", "vm"}

// liveEffects are the steps of an order that may have something outside.
func (s *Sagas) liveEffects(ctx context.Context, id uuid.UUID) (names []string, err error) {
	keys := make([]string, len(makers))
	for i, name := range makers {
		keys[i] = effectKey(id, name)
	}
	rows, _ := s.pool.Query(ctx, `select step from effect where key = any($1) and state not in ('absent', 'undone') order by key`, keys)
	names, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return names, sqlError(err, "look for what order %s has outside", id)
}

// goneOutside looks for what a step has made. What has its name by now and is
// somebody else's is not ours.
func (s *Sagas) goneOutside(ctx context.Context, job Job, step step) (bool, error) {
	call, err := step.effect.prepare(ctx, job)
	if err != nil {
		return false, err
	}
	_, found, err := call.Lookup(ctx)
	if failedAs(err, codeOf(errNotOurs)) {
		return true, nil
	}
	return found == No, err
}

// goneRow records that nothing is left of what a step has made.
func goneRow(key string) eventstore.Row {
	return eventstore.Row{
		Key: "effect/" + key, SQL: `update effect set state = 'undone', updated_at = now() where key = $1`, Args: []any{key}, Touches: 1,
	}
}
