package assembly

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/sagas"

	"github.com/jackc/pgx/v5"
)

// What tenants use is measured once a day, one tenant after the other, by
// whichever process comes first. The figures are no facts: nothing follows from
// them but what customers see (docs/tenants.md, "Figures").

// A measuring is a tenant whose turn it is, under a lease that is also the
// pause after a failure.
type measuring struct {
	tenant  int64
	client  *int64 // the engine's id of the tenant; nil: it has none any more
	figures []byte // of the last time
	lease   time.Time
}

// measure asks the engine what tenants use until ctx ends.
func (s *Panel) measure(ctx context.Context) {
	for s.times.Measure > 0 && ctx.Err() == nil {
		var more bool
		err := sagas.Guarded(func() (err error) { more, err = s.measureNext(ctx); return err })
		if err != nil && ctx.Err() == nil {
			s.Log().WarnContext(ctx, "the usage of a tenant was not measured", "error", sagas.Scrub(err))
		}
		if !more || err != nil {
			sagas.Pausing(ctx, sagas.Jittered(s.times.MeasurePoll), s.Advanced())
		}
	}
}

// measureNext measures the tenant that is due first. If none is, it looks for
// tenants that are new.
func (s *Panel) measureNext(ctx context.Context) (more bool, err error) {
	m, err := s.nextMeasuring(ctx)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return s.enlist(ctx)
	case err != nil:
		return false, sagas.SQLError(err, "look for tenants to measure")
	case m.client == nil:
		_, err := s.Exec(ctx, "measure a tenant no more", `delete from tenant_usage where tenant = $1 and next_at = $2`, m.tenant, m.lease)
		return true, err
	}
	call, cancel := context.WithTimeout(ctx, s.times.Call)
	defer cancel()
	usage, err := s.engine.Usage(call, *m.client)
	if err != nil {
		return true, err
	}
	return true, s.keepFigures(ctx, m, usage)
}

// nextMeasuring leases a tenant, for longer each time that it fails.
func (s *Panel) nextMeasuring(ctx context.Context) (m measuring, err error) {
	err = s.pool.QueryRow(ctx, `
		update tenant_usage u set fails = fails + 1, next_at = business_now() + least($1::interval, $2::interval * power(2, least(fails, 20)))
		where tenant = (select tenant from tenant_usage where next_at <= business_now() order by next_at limit 1 for update skip locked)
		returning tenant, figures, next_at,
			(select engine_id from resources r where r.kind = 'tenant' and r.id = u.tenant and r.status not in ('leaving', 'gone'))`,
		s.times.Measure, s.times.Lease).Scan(&m.tenant, &m.figures, &m.lease, &m.client)
	return m, err
}

// enlist lets new tenants have their turn.
func (s *Panel) enlist(ctx context.Context) (found bool, err error) {
	n, err := s.Exec(ctx, "look for new tenants", `
		insert into tenant_usage (tenant)
		select id from resources where kind = 'tenant' and present and engine_id is not null and id not in (select tenant from tenant_usage)
		on conflict (tenant) do nothing`)
	return n > 0, err
}

// keepFigures stores a measurement, unless somebody else has measured since.
func (s *Panel) keepFigures(ctx context.Context, m measuring, usage hosting.Usage) error {
	var last hosting.Measurement
	if err := json.Unmarshal(m.figures, &last); err != nil {
		s.Log().WarnContext(ctx, "a measurement could not be read", "tenant", m.tenant)
	}
	figures, err := json.Marshal(last.Then(usage))
	if err == nil {
		_, err = s.Exec(ctx, "keep the usage of a tenant", `
			update tenant_usage set figures = $3, fails = 0, next_at = business_now() + $4::interval where tenant = $1 and next_at = $2`,
			m.tenant, m.lease, figures, sagas.Jittered(s.times.Measure))
	}
	return err
}
