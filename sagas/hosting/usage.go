package hosting

import (
	"context"
	"encoding/json"

	"hostpanel/domain/hosting"
	"hostpanel/sagas"
)

// What tenants use is measured once a day, one tenant after the other, by
// whichever process comes first. The figures are no events: nothing follows from
// them but what customers see (docs/tenants.md, "Figures").

// measure measures tenants when their turn has come, those first that are new. A tenant that
// the engine does not have any more is measured once more, which forgets it.
func (m *Maintenance) measure() {
	if m.Times.Measure == 0 {
		return
	}
	sagas.AddTasks(m.Runner, sagas.Queue[int64]{
		Name: "usage", Failed: "the usage of a tenant was not measured", KeyType: "bigint",
		Policy: sagas.TaskPolicy{Look: m.Times.MeasurePoll, Base: m.Runner.Times().Lease, Cap: m.Times.Measure},
		Due: func() (string, []any) {
			return `select coalesce(u.tenant, r.id)::text as key, coalesce(u.next_at, '-infinity') as since
				from tenant_usage u full join (
					select id from resources where kind = 'tenant' and present and engine_id is not null) r on r.id = u.tenant
				where coalesce(u.next_at, '-infinity') <= business_now()`, nil
		},
		Do: m.measureOne,
	}, nil)
}

// measureOne asks the engine what a tenant uses.
func (m *Maintenance) measureOne(ctx context.Context, task *sagas.Task[int64]) (sagas.TaskEnd, error) {
	var client *int64 // the engine's id of the tenant; nil: it has none any more
	var figures []byte
	err := m.Store.Pool().QueryRow(ctx, `
		select (select engine_id from resources r where r.kind = 'tenant' and r.id = $1 and r.kept),
			coalesce((select figures from tenant_usage where tenant = $1), '{}')`, task.Row).Scan(&client, &figures)
	if err != nil {
		return sagas.TaskDone, sagas.SQLError(err, "look for a tenant to measure")
	}
	if client == nil {
		_, err := m.Runner.Exec(ctx, "measure a tenant no more", `delete from tenant_usage where tenant = $1`, task.Row)
		return sagas.TaskDone, err
	}
	call, cancel := context.WithTimeout(ctx, m.Runner.Times().Call)
	defer cancel()
	usage, err := m.Engine.Usage(call, *client)
	if err != nil {
		return sagas.TaskDone, err
	}
	return sagas.TaskDone, m.keepFigures(ctx, task.Row, figures, usage)
}

// keepFigures stores a measurement, and says when the next one is due.
func (m *Maintenance) keepFigures(ctx context.Context, tenant int64, before []byte, usage hosting.Usage) error {
	var last hosting.Measurement
	if err := json.Unmarshal(before, &last); err != nil {
		m.Runner.Log().WarnContext(ctx, "a measurement could not be read", "tenant", tenant)
	}
	figures, err := json.Marshal(last.Then(usage))
	if err == nil {
		_, err = m.Runner.Exec(ctx, "keep the usage of a tenant", `
			insert into tenant_usage (tenant, figures, next_at) values ($1, $2, business_now() + $3::interval)
			on conflict (tenant) do update set figures = excluded.figures, next_at = excluded.next_at`,
			tenant, figures, sagas.Jittered(m.Times.Measure))
	}
	return err
}
