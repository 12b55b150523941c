// Package traffic reads what machines use, and sums their traffic by the month
// (docs/machines-console.md, "Traffic").
package traffic

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Machines tells what machines use.
type Machines interface {
	// MachineUsage reads what a machine uses.
	MachineUsage(context.Context, hosting.Ref) (compute.Usage, error)
}

// Times are those of readings; zero: the usual ones.
type Times struct {
	Every time.Duration // between two readings of a machine: 5 minutes
	Poll  time.Duration // between two looks for machines to read: half a minute
}

const (
	usualEvery = 5 * time.Minute
	usualPoll  = 30 * time.Second
	atOnce     = 8 // machines that one process reads at a time
)

// Deps are what readings work with.
type Deps struct {
	Runner   *sagas.Runner
	Store    *eventstore.Store
	Tables   *projections.Tables
	Machines Machines
	Excess   string // of traffic: see [hosting.CountTraffic]; "": [hosting.TellTraffic]
	Times    Times
}

// Add lets the runner read what machines use, whose turn has come. One that is gone is
// forgotten.
func Add(d Deps) {
	if d.Times.Every == 0 {
		d.Times.Every = usualEvery
	}
	if d.Times.Poll == 0 {
		d.Times.Poll = usualPoll
	}
	if d.Excess == "" {
		d.Excess = hosting.TellTraffic
	}
	sagas.AddTasks(d.Runner, sagas.Queue[int64]{
		Name: "machine_usage", Failed: "the usage of a machine was not read", KeyType: "bigint", AtOnce: atOnce,
		Policy: sagas.TaskPolicy{Look: d.Times.Poll, Base: d.Runner.Times().Lease, Cap: d.Times.Every},
		Due: func() (string, []any) {
			return `select coalesce(u.machine, r.id)::text as key, coalesce(u.next_at, '-infinity') as since
				from machine_usage u full join (
					select id from resources where kind = 'vm' and kept and external <> '') r on r.id = u.machine
				where coalesce(u.next_at, '-infinity') <= business_now()`, nil
		},
		Do: d.readOne,
	}, nil)
}

// readOne reads one machine, and decides what follows from its traffic. That is decided too
// while the machine cannot be read, such as when a month ends.
func (d *Deps) readOne(ctx context.Context, task *sagas.Task[int64]) (sagas.TaskEnd, error) {
	ref := hosting.MachineRef(task.Row)
	found, err := d.Tables.For(projections.System).Hosting().Recorded(ctx, ref)
	if err != nil {
		return sagas.TaskDone, err
	}
	row, known := found[ref]
	if !known || row.External == "" || row.Status == hosting.Leaving || row.Status == hosting.Gone {
		return sagas.TaskDone, d.forget(ctx, task.Row)
	}
	call, cancel := context.WithTimeout(ctx, d.Runner.Times().Call)
	defer cancel()
	usage, unread := d.Machines.MachineUsage(call, ref)
	if unread == nil {
		err = d.record(ctx, row, usage)
	}
	if err == nil {
		err = d.count(ctx, row)
	}
	return sagas.TaskDone, errors.Join(unread, err)
}

func (d *Deps) forget(ctx context.Context, machine int64) error {
	_, err := d.Runner.Exec(ctx, "read a machine no more", `
		with gone as (delete from machine_traffic where machine = $1) delete from machine_usage where machine = $1`, machine)
	return err
}

// record keeps a reading and adds what has passed since the one before to the traffic of the
// month, in one statement: so each byte counts once, whatever is cut off. Counters of another
// epoch, or that have fallen, have begun at zero. A reading that is not later than the last
// one changes nothing, and neither does the first of two that are made at once.
func (d *Deps) record(ctx context.Context, row projections.Resource, u compute.Usage) error {
	_, err := d.Runner.Exec(ctx, "keep the usage of a machine", recordUsage,
		row.ID, row.Tenant, u.At, u.Epoch, u.CPU.Microseconds(), u.Received, u.Sent, u.MemoryMB, u.DiskMB, sagas.Jittered(d.Times.Every))
	return err
}

const recordUsage = `
	with last as (
		select * from machine_usage where machine = $1 for update
	), moved as (
		select l.machine is null as first,
			case when l.epoch = $4 and l.cpu <= $5 and l.read_at < $3
				then ($5 - l.cpu) / 1e6 / extract(epoch from $3::timestamptz - l.read_at) end as cores,
			$6 - case when l.epoch = $4 and l.received <= $6 and l.sent <= $7 then l.received else 0 end as received,
			$7 - case when l.epoch = $4 and l.received <= $6 and l.sent <= $7 then l.sent else 0 end as sent
		from (select) one left join last l on true
		where l.machine is null or l.read_at < $3
	), begun as (
		insert into machine_usage (machine, tenant, read_at, epoch, cpu, received, sent, cores, memory_mb, disk_mb, next_at)
		select $1, $2::bigint, $3, $4, $5, $6, $7, null, $8::bigint, $9::bigint, business_now() + $10::interval from moved where first
		on conflict do nothing returning machine
	), gone_on as (
		update machine_usage u set tenant = $2, read_at = $3, epoch = $4, cpu = $5, received = $6, sent = $7, cores = m.cores,
			memory_mb = $8, disk_mb = $9, next_at = business_now() + $10::interval
		from moved m where u.machine = $1 and not m.first returning u.machine
	), waits as (
		update machine_usage set next_at = business_now() + $10::interval
		where machine = $1 and not exists (select from moved) returning machine
	)
	insert into machine_traffic as t (machine, month, tenant, received, sent)
	select $1, date_trunc('month', business_now() at time zone 'utc')::date, $2, m.received, m.sent
	from moved m where exists (select from begun) or exists (select from gone_on)
	on conflict (machine, month) do update set received = t.received + excluded.received, sent = t.sent + excluded.sent`

// count decides what follows from the traffic of the month.
func (d *Deps) count(ctx context.Context, row projections.Resource) error {
	var m hosting.Machine
	if err := row.Load(&m); err != nil {
		return err
	}
	c := hosting.CountTraffic{Ref: row.Ref(), LimitTB: m.TrafficTB, Excess: d.Excess, Rate: m.RateMbit}
	err := d.Store.Pool().QueryRow(ctx, `
		select to_char(month, 'YYYY-MM'), coalesce((
			select received + sent from machine_traffic where machine = $1 and month = now.month), 0)
		from (select date_trunc('month', business_now() at time zone 'utc')::date as month) now`, row.ID).Scan(&c.Month, &c.Bytes)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return sagas.SQLError(err, "sum the traffic of a machine")
	}
	_, err = d.Store.Execute(ctx, domain.Metadata{Actor: "system:traffic"}, c)
	return err
}
