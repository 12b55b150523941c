package billing

import (
	"context"
	"math"
	"strconv"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// usageRoute shows what the machine of a service uses (docs/machines-console.md, "Usage").
func (s *services) usageRoute() route.Route {
	return route.Get(servicesPath+"{id:uuid}/vm/usage/", "What the virtual server of a service uses", s.usage).
		As("service_vm_usage").Of("VM").Finding(s.find).Caching("no-store").
		Saying("As it was read last, which is done every five minutes. Traffic counts from the first of the month, in UTC.")
}

// A machineUsage is what a machine uses and may use.
type machineUsage struct {
	hosting.MachineUsage
	id                       int64
	percent                  *int64 // of its processors
	memory, disk, sum, limit int64
	state                    string
}

// The states of the traffic of a machine.
const (
	trafficFree    = "free"
	trafficSlowed  = "slowed"
	trafficStopped = "stopped"
)

func (s *services) usage(ctx context.Context, c route.Call) (*machineUsage, error) {
	return s.usageOf(ctx, c, c.Subject.(*serviceDetail).machine) //nolint:forcetypeassert // found by find
}

func (s *services) usageOf(ctx context.Context, c route.Call, row *projections.Resource) (*machineUsage, error) {
	if row == nil {
		return nil, route.Missing("VM")
	}
	var m hosting.Machine
	if err := row.Load(&m); err != nil {
		return nil, err
	}
	read, err := projections.MachineUsage(ctx, s.callers.Scope(c).Hosting(), row.ID, s.callers.Now())
	u := &machineUsage{
		MachineUsage: read, id: row.ID, memory: m.MemoryMB, disk: m.DiskGB << 10, sum: read.Received + read.Sent,
		limit: m.TrafficTB * hosting.Terabyte, state: trafficState(row, &m),
	}
	if read.Cores != nil && m.Cores > 0 {
		percent := min(int64(math.Round(*read.Cores*100/float64(m.Cores))), 100)
		u.percent = &percent
	}
	return u, err
}

// trafficState is what has happened to a machine because of its traffic.
func trafficState(row *projections.Resource, m *hosting.Machine) string {
	for _, by := range row.DisabledBy {
		if by == hosting.ByTraffic {
			return trafficStopped
		}
	}
	if m.RateMbit == hosting.SlowMbit {
		return trafficSlowed
	}
	return trafficFree
}

// Fields are the usage.
func (u *machineUsage) Fields() field.Set {
	return field.Set{
		field.Int("id", &u.id).ReadOnly(),
		field.NullTime("read_at", &u.ReadAt).ReadOnly().Doc("By the clock of the hypervisor; null: it was not read yet."),
		field.NullInt("cpu_percent", &u.percent).ReadOnly().
			Doc("Of all its cores, on average since the reading before; null: not known, as after a start."),
		field.Int("memory_used_mb", &u.MemoryMB).ReadOnly().Doc("0: the hypervisor does not tell."),
		field.Int("memory_mb", &u.memory).ReadOnly(),
		field.Int("disk_used_mb", &u.DiskMB).ReadOnly().Doc("That the disk takes at the host; 0: the hypervisor does not tell."),
		field.Int("disk_mb", &u.disk).ReadOnly(),
		field.Text("month", &u.Month).ReadOnly().Doc("Of the traffic, such as 2026-11."),
		field.Int("received_bytes", &u.Received).ReadOnly(),
		field.Int("sent_bytes", &u.Sent).ReadOnly(),
		field.Int("traffic_bytes", &u.sum).ReadOnly().Doc("Received and sent."),
		field.Int("traffic_limit_bytes", &u.limit).ReadOnly().Doc("0: none."),
		field.Text("traffic_state", &u.state).Among(trafficFree, trafficSlowed, trafficStopped).ReadOnly().
			Doc("slowed, stopped: the traffic of the month is used up."),
	}
}

// A usageBar is how much of something there is, and may be; without a limit there is no bar.
type usageBar struct {
	Name, Text string
	Used, Most int64
}

// bars are the usage as meters.
func (u *machineUsage) bars(w web.Words) (all []usageBar) {
	if u.ReadAt == nil {
		return nil
	}
	if u.percent != nil {
		all = append(all, usageBar{w["service_use_cpu"], strconv.FormatInt(*u.percent, 10) + " %", *u.percent, 100})
	}
	if u.MemoryMB > 0 {
		all = append(all, barOf(w, "service_use_memory", " MB", u.MemoryMB, u.memory))
	}
	if u.DiskMB > 0 {
		all = append(all, barOf(w, "service_use_disk", " GB", u.DiskMB>>10, u.disk>>10))
	}
	const gigabyte = 1_000_000_000
	return append(all, barOf(w, "service_use_traffic", " GB", u.sum/gigabyte, u.limit/gigabyte))
}

func barOf(w web.Words, name, unit string, used, most int64) usageBar {
	text := strconv.FormatInt(used, 10)
	if most == 0 {
		return usageBar{Name: w[name], Text: text + unit, Used: used}
	}
	return usageBar{w[name], text + " " + w["panel_of"] + " " + strconv.FormatInt(most, 10) + unit, used, most}
}

// usageTitle says when the machine was read.
func (u *machineUsage) usageTitle(w web.Words) string {
	if u.ReadAt == nil {
		return ""
	}
	return w["service_use"] + " · " + w.Moment("", u.ReadAt, "").Text
}
