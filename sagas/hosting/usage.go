package hosting

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain/hosting"
	"hostpanel/eventstore/clock"
	"hostpanel/sagas"
)

// What tenants use is measured once a day, one tenant after the other, by
// whichever process comes first. The figures are no events: nothing follows from
// them but what customers see (docs/tenants.md, "Figures").

// A measuring is a tenant whose turn it is, under a lease that is also the
// pause after a failure.
type measuring struct {
	tenant  int64
	client  *int64 // the engine's id of the tenant; nil: it has none any more
	figures []byte // of the last time
	lease   time.Time
}

// measure asks the engine what tenants use until ctx ends. What is being leased or measured
// then goes on in the context work.
func (m *Maintenance) measure(ctx, work context.Context) {
	for woken := m.Runner.Woken("usage"); m.Times.Measure > 0 && ctx.Err() == nil; {
		var more bool
		err := sagas.Guarded(func() (err error) { more, err = m.measureNext(work); return err })
		if err != nil && ctx.Err() == nil {
			m.Runner.Log().WarnContext(ctx, "the usage of a tenant was not measured", "error", sagas.Scrub(err))
		}
		if !more || err != nil {
			clock.Pausing(ctx, sagas.Jittered(m.Times.MeasurePoll), woken)
		}
	}
}

// measureNext measures the tenant that is due first. If none is, it looks for
// tenants that are new.
func (m *Maintenance) measureNext(ctx context.Context) (more bool, err error) {
	due, err := m.nextMeasuring(ctx)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return m.enlist(ctx)
	case err != nil:
		return false, sagas.SQLError(err, "look for tenants to measure")
	case due.client == nil:
		_, err := m.Runner.Exec(ctx, "measure a tenant no more", `delete from tenant_usage where tenant = $1 and next_at = $2`, due.tenant, due.lease)
		return true, err
	}
	call, cancel := context.WithTimeout(ctx, m.Runner.Times().Call)
	defer cancel()
	usage, err := m.Engine.Usage(call, *due.client)
	if err != nil {
		return true, err
	}
	return true, m.keepFigures(ctx, due, usage)
}

// nextMeasuring leases a tenant, for longer each time that it fails.
func (m *Maintenance) nextMeasuring(ctx context.Context) (due measuring, err error) {
	err = m.Store.Pool().QueryRow(ctx, `
		update tenant_usage u set fails = fails + 1, next_at = business_now() + least($1::interval, $2::interval * power(2, least(fails, 20)))
		where tenant = (select tenant from tenant_usage where next_at <= business_now() and not in_recovery() order by next_at limit 1 for update skip locked)
		returning tenant, figures, next_at,
			(select engine_id from resources r where r.kind = 'tenant' and r.id = u.tenant and r.kept)`,
		m.Times.Measure, m.Runner.Times().Lease).Scan(&due.tenant, &due.figures, &due.lease, &due.client)
	return due, err
}

// enlist lets new tenants have their turn.
func (m *Maintenance) enlist(ctx context.Context) (found bool, err error) {
	n, err := m.Runner.Exec(ctx, "look for new tenants", `
		insert into tenant_usage (tenant)
		select id from resources where kind = 'tenant' and present and engine_id is not null and id not in (select tenant from tenant_usage)
		on conflict (tenant) do nothing`)
	return n > 0, err
}

// keepFigures stores a measurement, unless another process has measured since.
func (m *Maintenance) keepFigures(ctx context.Context, due measuring, usage hosting.Usage) error {
	var last hosting.Measurement
	if err := json.Unmarshal(due.figures, &last); err != nil {
		m.Runner.Log().WarnContext(ctx, "a measurement could not be read", "tenant", due.tenant)
	}
	figures, err := json.Marshal(last.Then(usage))
	if err == nil {
		_, err = m.Runner.Exec(ctx, "keep the usage of a tenant", `
			update tenant_usage set figures = $3, fails = 0, next_at = business_now() + $4::interval where tenant = $1 and next_at = $2`,
			due.tenant, due.lease, figures, sagas.Jittered(m.Times.Measure))
	}
	return err
}
