package hosting

import (
	"fmt"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A tenant is out of service while it is suspended or terminated, and while a
// reason beside its status is left (docs/tenants.md, "Suspension"). The tenant's
// records are switched off; the engine has no tenant to switch.

// SuspendService puts a tenant out of service for a reason. ResumeService takes
// the reason away. A tenant with another reason, or that is suspended, stays out
// of service.
type (
	SuspendService struct {
		Ref
		By string // ByOrder, ByInvoice, ByParent
	}
	ResumeService struct {
		Ref
		By string
	}
)

// ByOrder is the reason of a tenant whose order is in dispute, or was given
// back, or has ended.
const ByOrder = "order"

// ByInvoice is the reason of a tenant whose invoice was not paid in time.
const ByInvoice = "invoice"

// ByParent is the reason of a sub-tenant whose parent is out of service, or no
// longer has the service that sub-tenants come with.
const ByParent = "parent"

type (
	// ServiceSuspended: the tenant is out of service for the reason By.
	ServiceSuspended struct {
		By string `json:"by"`
	}
	// ServiceResumed: the reason By is gone.
	ServiceResumed struct {
		By string `json:"by"`
	}
)

func (ServiceSuspended) EventName() string { return "hosting.service_suspended" }
func (ServiceResumed) EventName() string   { return "hosting.service_resumed" }

func (e ServiceSuspended) Says() string { return "out of service because of its " + e.By }
func (e ServiceResumed) Says() string   { return "no longer out of service because of its " + e.By }

func (c SuspendService) decide(r Resource) ([]Event, error) {
	if err := r.checkService(c.Ref, c.By); err != nil || r.ended() || slices.Contains(r.DisabledBy, c.By) {
		return nil, err
	}
	return []Event{ServiceSuspended{c.By}}, nil
}

func (c ResumeService) decide(r Resource) ([]Event, error) {
	if err := r.checkService(c.Ref, c.By); err != nil || r.ended() || !slices.Contains(r.DisabledBy, c.By) {
		return nil, err
	}
	return []Event{ServiceResumed{c.By}}, nil
}

func (r Resource) checkService(ref Ref, by string) error {
	kind, _ := KindNamed(ref.Kind)
	switch {
	case !kind.Owner || by != ByOrder && by != ByInvoice && by != ByParent:
		return fmt.Errorf("no %s is put out of service by %q", kind.Label, by)
	case r.Status == "":
		return kind.absent()
	}
	return nil
}

func (e ServiceSuspended) evolve(r Resource) Resource {
	r.DisabledBy = append(slices.Clone(r.DisabledBy), e.By)
	return r
}

func (e ServiceResumed) evolve(r Resource) Resource {
	r.DisabledBy = slices.DeleteFunc(slices.Clone(r.DisabledBy), func(by string) bool { return by == e.By })
	return r
}

// OutOfService tells whether nothing of the tenant runs but its zones. Reasons
// are those beside its status.
func (t *Tenant) OutOfService(reasons ...string) bool {
	return t.Status == Suspended || t.Status == Terminated || len(reasons) > 0
}

// Closed tells whether superusers alone write in the tenant.
func (t *Tenant) Closed(reasons ...string) bool { return t.Status == Suspended || len(reasons) > 0 }

// Takes tells whether an order may add a service of a kind to the tenant. A sub-tenant has
// no sub-tenants.
func (t *Tenant) Takes(kind, requestedFor string, reasons ...string) bool {
	return t.Status != Terminated && !t.Closed(reasons...) && (kind != "saas" || !t.IsSubTenant(requestedFor))
}

// StopsSubTenants tells whether the sub-tenants of the tenant are out of service.
func (t *Tenant) StopsSubTenants(reasons ...string) bool {
	return t.SubTenantsRest || t.OutOfService(reasons...)
}

// TurnsSubTenants tells whether a change of a tenant may let its sub-tenants rest, go
// on or end; TurnsSites, whether its sites and what else a hosting service comes with.
func TurnsSubTenants(spec field.Values) bool {
	return spec["status"] != nil || spec["subtenants_rest"] != nil
}

func TurnsSites(spec field.Values) bool { return spec["sites_rest"] != nil }

// TerminatedSpec is the change that terminates a tenant.
func TerminatedSpec() field.Values { return field.Values{"status": field.AppendText(nil, Terminated)} }

// MostFollowing is how many records follow a tenant in one append, so that
// other writers do not wait long. A thousand take about half a second.
const MostFollowing = 1000

// Following are the commands that disable records with their tenant, or enable
// them again. Other reasons of a record stay.
func Following(outOfService bool, records []Ref) []domain.Command {
	return Switching(outOfService, ByTenant, records)
}

// Switching are the commands that disable records for a reason, or take it away.
func Switching(off bool, by string, records []Ref) []domain.Command {
	commands := make([]domain.Command, len(records))
	for i, ref := range records {
		if off {
			commands[i] = Disable{Ref: ref, By: by}
		} else {
			commands[i] = Enable{Ref: ref, By: by}
		}
	}
	return commands
}
