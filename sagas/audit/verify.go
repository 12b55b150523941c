package audit

import (
	"context"

	"hostpanel/domain/audit"
	"hostpanel/domain/operations"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Verified tells what the check of the log in the background has found. An
// administrator of a tenant is told how many events of the tenant were checked, and
// only of broken ones among these.
func (s *Service) Verified(ctx context.Context, who projections.Caller) (audit.Verdict, error) {
	v, err := s.store.Reader().Verification(ctx)
	if err != nil {
		return audit.Verdict{}, err
	}
	verdict := audit.Verdict{Checked: v.Position, VerifiedAt: v.VerifiedAt}
	if verdict.Broken, err = s.firstBroken(ctx, who); err != nil {
		return verdict, err
	}
	if !who.SeesAll() {
		err = s.pool.QueryRow(
			ctx, `select count(*) from log_index where tenant = $1 and position <= $2`, who.Tenant, v.Position,
		).Scan(&verdict.Checked)
		return verdict, sagas.SQLError(err, "count the events of tenant %d", who.Tenant)
	}
	err = s.pool.QueryRow(ctx, `select coalesce(max(position), 0) from events`).Scan(&verdict.HeadPosition)
	if err == nil {
		err = s.pool.QueryRow(
			ctx, `select coalesce((select hash from events where position = $1), '')`, verdict.HeadPosition,
		).Scan(&verdict.HeadHash)
	}
	return verdict, sagas.SQLError(err, "read the head of the log")
}

// firstBroken is the first position that was reported as broken and not settled.
func (s *Service) firstBroken(ctx context.Context, who projections.Caller) (position int64, err error) {
	err = s.pool.QueryRow(ctx, `
		select coalesce(min((about ->> 'position')::bigint), 0) from incidents i
		where kind = $1 and not is_settled and ($2 or exists (select from log_index x
			where x.position = (i.about ->> 'position')::bigint and x.tenant = $3))`,
		operations.LogBroken, who.SeesAll(), who.Tenant).Scan(&position)
	return position, sagas.SQLError(err, "look for broken events")
}
