package assembly

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// What provisioning makes at the engine and at the hypervisor. Names follow
// from our numbers and are known before the call (rule E-1); our reference
// stands in a searchable field (E-2); only what is ours is adopted (E-3).

// tenantOf is the tenant as the order has bought it: new, named after the
// company or the customer, with the plan's package or limits.
func (s *Panel) tenantOf(ctx context.Context, job *ProvisionInput, o projections.Order) (*hosting.Tenant, error) {
	name := o.CustomerCompany
	if name == "" {
		name = o.CustomerName
	}
	login := hosting.CustomerNumber(job.Tenant)
	t := &hosting.Tenant{
		Name: name, Email: o.CustomerEmail, Slug: slug(name, job.Tenant), ContactName: o.CustomerName, CompanyName: o.CustomerCompany,
		Phone: o.CustomerPhone, Language: o.Language, Package: o.Plan.Package, Username: login, CustomerNumber: login,
		Status: "active", IsActive: true, Limits: hosting.NoLimits(),
	}
	switch {
	case o.Plan.SaaS != nil:
		t.SaaS = hosting.SaaSLimits{
			MaxVMs: o.Plan.SaaS.MaxVMs, MaxHostingAccounts: o.Plan.SaaS.MaxHostingAccounts,
			MaxAgents: o.Plan.SaaS.MaxAgents, WhiteLabel: o.Plan.SaaS.WhiteLabel,
		}
		owner, _, err := eventstore.Fold(ctx, s.store, account.Decider, account.Stream(o.Owner))
		if err != nil {
			return nil, err
		}
		if owner.ActiveTenant != 0 {
			t.Parent = &owner.ActiveTenant
		}
	case o.Plan.Package == nil && o.ResourceType == "hosting":
		t.Limits = hosting.PackageFrom(o.Plan.Quotas)
	}
	return t, nil
}

// slug makes a name fit for URLs; the number keeps it unique.
func slug(name string, id int64) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	number := strconv.FormatInt(id, 10)
	stem := b.String()
	stem = strings.Trim(stem[:min(len(stem), 99-len(number))], "-")
	return strings.Trim(stem+"-"+number, "-")
}

func siteOf(job *ProvisionInput, o projections.Order) *hosting.Site {
	domain := o.Domain
	if job.Domain != "" {
		domain = job.Domain
	}
	return &hosting.Site{Domain: domain, IPAddress: "*", IsActive: true}
}

func machineOf(job *ProvisionInput, o projections.Order) *hosting.Machine {
	m := &hosting.Machine{Name: hosting.MachineName(job.VM), Tag: job.Order.String(), OS: o.OSChoice}
	if v := o.Plan.VPS; v != nil {
		m.Cores, m.MemoryMB, m.DiskGB, m.TrafficTB = v.Cores, v.MemoryMB, v.DiskGB, v.TrafficTB
		if m.OS == "" {
			m.OS = v.DefaultOS
		}
	}
	if job.OS != "" {
		m.OS = job.OS
	}
	return m
}

// asked is the version of a resource that an order has asked for. What was
// changed since is not what the order makes.
const asked = 1

// tenantCall makes the engine's client for the tenant. It is ours if number
// and login agree.
func (s *Panel) tenantCall(ctx context.Context, job *ProvisionInput) (sagas.Call, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return sagas.Call{}, err
	}
	tenant, err := s.tenantOf(ctx, job, o)
	if err != nil {
		return sagas.Call{}, err
	}
	number := hosting.CustomerNumber(job.Tenant)
	object := hosting.EngineObject{Kind: "tenant", Name: number, Ref: number, Values: tenant.Fields().Values()}
	ours := func(found hosting.EngineObject) bool { return found.Ref == number && found.Name == number }
	ref := hosting.Ref{Kind: "tenant", ID: job.Tenant}
	return s.engineCall(ref, object, ours, func(id int64, r hosting.EngineObject) sagas.Work {
		job.Client = id
		return sagas.Work{
			Commands: []domain.Command{hosting.Confirm{Ref: ref, EngineID: id, Observed: r.Observed, Version: asked}},
			Rows:     []eventstore.TxStatement{sagas.WakeWaiting(ref.Stream())},
		}
	}), nil
}

// siteCall makes the website. It is ours if our client owns it.
func (s *Panel) siteCall(ctx context.Context, job *ProvisionInput) (sagas.Call, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return sagas.Call{}, err
	}
	site := siteOf(job, o)
	object := hosting.EngineObject{Kind: "site", Owner: job.Client, Name: site.Domain, Values: site.Fields().Values()}
	ours := func(found hosting.EngineObject) bool { return found.Owner == job.Client }
	ref := hosting.Ref{Kind: "site", ID: job.Site}
	return s.engineCall(ref, object, ours, func(id int64, r hosting.EngineObject) sagas.Work {
		return sagas.Work{
			Commands: []domain.Command{hosting.Confirm{Ref: ref, EngineID: id, Observed: r.Observed, Version: asked}},
			Rows:     []eventstore.TxStatement{sagas.WakeWaiting(ref.Stream())},
		}
	}), nil
}

// errNotOurs: the name is taken by somebody else, who keeps it.
var errNotOurs = domain.Fail(domain.Permanent, "name_taken", errors.New("an object of that name belongs to somebody else"))

// engineCall makes one object at the engine, for a resource.
func (s *Panel) engineCall(ref hosting.Ref, o hosting.EngineObject, ours func(hosting.EngineObject) bool, then func(int64, hosting.EngineObject) sagas.Work) sagas.Call {
	var last hosting.EngineObject // as the engine shows it, once we have looked
	look := func(ctx context.Context) (sagas.Result, sagas.Found, error) {
		found, is, err := s.engine.Find(ctx, o.Kind, o.Name, o.Ref)
		switch {
		case err != nil || !is:
			return sagas.Result{}, sagas.No, err
		case !ours(found):
			return sagas.Result{}, sagas.No, errNotOurs
		}
		last = found
		return sagas.Result{External: strconv.FormatInt(found.ID, 10)}, sagas.Yes, nil
	}
	return sagas.Call{
		// Values may change while we try; what the object is may not.
		Request:   hosting.EngineObject{Kind: o.Kind, Owner: o.Owner, Name: o.Name, Ref: o.Ref},
		Claim:     sagas.Claim{Server: s.engine.Server(), Kind: o.Kind, Name: o.Name, Owner: ref.Stream()},
		Contested: s.contested, Lookup: look,
		Do: func(ctx context.Context) (sagas.Result, error) {
			id, err := s.engine.Create(ctx, o)
			if err != nil {
				return sagas.Result{}, err
			}
			// The owner is read again (rule E-7). No answer to that changes nothing: the wait looks again.
			if _, _, err := look(ctx); errors.Is(err, errNotOurs) {
				return sagas.Result{}, err
			}
			return sagas.Result{External: strconv.FormatInt(id, 10)}, nil
		},
		Undo: func(ctx context.Context, r sagas.Result) error {
			id, err := strconv.ParseInt(r.External, 10, 64)
			if err != nil {
				return domain.Fail(domain.Permanent, "no_id", err)
			}
			if _, found, err := look(ctx); err != nil || found == sagas.No {
				return err
			}
			return s.engine.Remove(ctx, hosting.EngineObject{Kind: o.Kind, ID: id, Owner: o.Owner, Name: o.Name, Ref: o.Ref})
		},
		Confirmed: func(r sagas.Result) sagas.Work {
			id, _ := strconv.ParseInt(r.External, 10, 64) // written by us, above
			return then(id, last)
		},
	}
}

func (s *Panel) tenantReady(ctx context.Context, job *ProvisionInput) (bool, sagas.Work, error) {
	number := hosting.CustomerNumber(job.Tenant)
	found, is, err := s.engine.Find(ctx, "tenant", number, number)
	return is && found.Applied, sagas.Work{}, err
}

func (s *Panel) siteReady(ctx context.Context, job *ProvisionInput) (bool, sagas.Work, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return false, sagas.Work{}, err
	}
	found, is, err := s.engine.Find(ctx, "site", siteOf(job, o).Domain, "")
	if err == nil && is && found.Owner != job.Client {
		err = errNotOurs
	}
	return is && found.Applied, sagas.Work{}, err
}

// vmCall makes the virtual server. It is ours only with our tag.
func (s *Panel) vmCall(ctx context.Context, job *ProvisionInput) (sagas.Call, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return sagas.Call{}, err
	}
	vm := machineOf(job, o).VM()
	return sagas.Call{
		Request:   vm,
		Claim:     sagas.Claim{Server: s.compute.Server(), Kind: "vm", Name: vm.Name, Owner: hosting.Ref{Kind: "vm", ID: job.VM}.Stream()},
		Contested: s.contested,
		Lookup: func(ctx context.Context) (sagas.Result, sagas.Found, error) {
			found, is, err := s.compute.FindVM(ctx, vm.Tag, vm.Name)
			switch {
			case err != nil || !is:
				return sagas.Result{}, sagas.No, err
			case found.Tag != vm.Tag:
				return sagas.Result{}, sagas.No, errNotOurs
			}
			return sagas.Result{External: found.External}, sagas.Yes, nil
		},
		Do: func(ctx context.Context) (sagas.Result, error) {
			external, err := s.compute.CreateVM(ctx, vm)
			return sagas.Result{External: external}, err
		},
		Undo: func(ctx context.Context, _ sagas.Result) error {
			found, is, err := s.compute.FindVM(ctx, vm.Tag, vm.Name)
			if err != nil || !is || found.Tag != vm.Tag {
				return err
			}
			return s.compute.RemoveVM(ctx, found.External)
		},
	}, nil
}

// vmReady is when the machine has booted: only then is it as it was ordered.
func (s *Panel) vmReady(ctx context.Context, job *ProvisionInput) (bool, sagas.Work, error) {
	found, is, err := s.compute.FindVM(ctx, job.Order.String(), hosting.MachineName(job.VM))
	if err != nil || !is || found.State != "running" || found.Address == "" {
		return false, sagas.Work{}, err
	}
	if found.Tag != job.Order.String() {
		return false, sagas.Work{}, errNotOurs
	}
	address := (&hosting.Machine{Address: found.Address}).Fields().Values()["address"]
	return true, sagas.Work{Commands: []domain.Command{hosting.Confirm{
		Ref: hosting.Ref{Kind: "vm", ID: job.VM}, External: found.External, Observed: map[string]json.RawMessage{"address": address},
	}}}, nil
}
