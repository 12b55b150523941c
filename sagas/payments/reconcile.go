package payments

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain/operations"
	"hostpanel/sagas"
)

// Reconciliation lists the orders whose money and service do not fit together
// (rule J-4). What is still in progress counts only after a while
// (docs/operations.md, "Reconciliation").

const (
	reconcileMost  = 1000             // findings of a sort
	reconcileAfter = 30 * time.Minute // without a change, before something is late
)

// setup is the provisioning of an order, where it has one.
const setup = ` left join saga_run p on p.key = 'provision:' || o.id`

// live tells that something made for the order may still exist outside. With "offset 0" Postgres
// looks up the order's runs, and then the effects of each: as a join it may begin with all effects.
const live = `exists (select from saga_run r where r.order_id = o.id and exists (select from effect e where e.saga_id = r.id
	and e.step in ('tenant.engine', 'site', 'vm')
	and e.state in ('confirmed', 'intended', 'unknown', 'undoing', 'skipped') offset 0) offset 0)`

// unfit finds the orders of each sort, with what repairs them. A service in its
// grace is suspended and does not count.
var unfit = struct{ paid, unpaid, captured, live, refunds string }{
	paid: `select o.id, o.order_number, o.status, o.updated_at as since,
			case when o.status = 'failed' then 'retry' when p.id is null then 'recheck' when p.status = 'paused' then 'resume'
				when p.status = 'parked' then 'retry' else 'release' end as action
		from orders o` + setup + `
		where o.status = 'failed' and not o.cancel_requested or o.status in ('paid', 'provisioning')
			and o.updated_at < $3::timestamptz - $2::interval`,
	unpaid: `select o.id, o.order_number, o.status, o.updated_at as since, 'cancel' as action
		from orders o where o.status = 'active' and o.minor > 0 and (o.payment_status <> 'paid' or o.refunded >= o.minor)`,
	captured: `select o.id, o.order_number, o.status, o.updated_at as since, 'refund' as action
		from orders o where o.status = 'cancelled' and o.cancel_reason <> 'ended' and o.payment_status = 'paid' and o.minor > 0
			and not exists (select from saga_run r where r.order_id = o.id and r.key like 'refund:%'
				and r.status not in ('done', 'undone') offset 0)`,
	live: `select o.id, o.order_number, o.status, o.updated_at as since,
			case when d.status = 'parked' then 'retry the run' when p.status = 'parked' then 'retry'
				when 'paused' in (d.status, p.status) then 'resume'
				when d.id is null then 'recheck' else 'release' end as action
		from orders o` + setup + ` left join saga_run d on d.key = 'deprovision:' || o.id
		where (o.status = 'refunded' or o.status = 'cancelled' and o.cancel_reason = 'ended') and ` + live + `
			and case when d.id is null then o.updated_at < $3::timestamptz - $2::interval
				when d.status in ('parked', 'paused') then true
				when d.status = 'done' or d.steps -> d.step ->> 'name' = 'grace' then false
				else (select e.recorded_at from events e where e.stream = 'saga-' || d.id and e.version = d.stream_version)
					< $3::timestamptz - $2::interval end`,
	refunds: `select o.id, o.order_number, o.status, min(r.created_at) as since,
			case when bool_or(r.status = 'parked') or 'refund_failed' = any(o.holds) then 'refund' else 'recheck' end as action
		from saga_run r join orders o on o.id = r.order_id
		where split_part(r.key, ':', 1) = 'refund' and (r.status not in ('done', 'undone', 'parked') or 'refund_failed' = any(o.holds))
		group by o.id`,
}

// Reconcile finds the orders whose money and service do not fit together. It
// only reads, in one snapshot.
func (s *Service) Reconcile(ctx context.Context) (found operations.Reconciliation, err error) {
	found.At = s.runner.Now().UTC()
	b := &pgx.Batch{}
	for _, q := range []struct {
		sql  string
		into *[]operations.Finding
	}{
		{unfit.paid, &found.PaidNotProvisioned},
		{unfit.unpaid, &found.ProvisionedNotPaid},
		{unfit.captured, &found.CapturedAfterCancel},
		{unfit.live, &found.RefundedStillLive},
		{unfit.refunds, &found.RefundsOpen},
	} {
		b.Queue(`select id as "order", order_number, status, since, action from (`+q.sql+`) unfit
			where ($2::interval, $3::timestamptz) is not null order by since, id limit $1`, reconcileMost, reconcileAfter, found.At).Query(
			sagas.Collecting(q.into),
		)
	}
	return found, sagas.SQLError(s.pool.SendBatch(ctx, b).Close(), "reconcile")
}

// ReconcileDaily reports the orders whose money and service do not fit, once a
// day, in one process of all.
func (s *Service) ReconcileDaily(ctx context.Context) error {
	due, err := s.runner.Exec(ctx, "look when money and service were compared", `
		insert into saga_daily as d (name, at) values ('reconciliation', business_now())
		on conflict (name) do update set at = excluded.at where d.at < business_now() - interval '1 day'`)
	if err != nil || due == 0 {
		return err
	}
	return s.reportMismatches(ctx)
}

// reportMismatches raises an alarm for each sort of mismatch, with its number
// and the oldest order.
func (s *Service) reportMismatches(ctx context.Context) error {
	found, err := s.Reconcile(ctx)
	for _, sort := range found.Categories() {
		if len(sort.Findings) > 0 {
			s.runner.Alarm(
				ctx, "money and service do not fit together", "sort", sort.Name, "orders", len(sort.Findings), "oldest",
				sort.Findings[0].Order,
			)
		}
	}
	return err
}
