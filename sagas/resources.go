package sagas

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
)

// What provisioning makes at the engine and at the hypervisor. Names follow
// from our numbers and are known before the call (rule E-1); our reference
// stands in a searchable field (E-2); only what is ours is adopted (E-3).

// tenantOf is the tenant as the order has bought it: new, named after the
// company or the customer, with the plan's package or limits.
func (s *Sagas) tenantOf(ctx context.Context, job Job, o projections.Order) (*hosting.Tenant, error) {
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

func siteOf(job Job, o projections.Order) *hosting.Site {
	domain := o.Domain
	if job.Domain != "" {
		domain = job.Domain
	}
	return &hosting.Site{Domain: domain, IPAddress: "*", IsActive: true}
}

func machineOf(job Job, o projections.Order) *hosting.Machine {
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
func (s *Sagas) tenantCall(ctx context.Context, job Job) (Call, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return Call{}, err
	}
	tenant, err := s.tenantOf(ctx, job, o)
	if err != nil {
		return Call{}, err
	}
	number := hosting.CustomerNumber(job.Tenant)
	object := hosting.EngineObject{Kind: "tenant", Name: number, Ref: number, Values: tenant.Fields().Values()}
	ours := func(found hosting.EngineObject) bool { return found.Ref == number && found.Name == number }
	ref := hosting.Ref{Kind: "tenant", ID: job.Tenant}
	return s.engineCall(ref, object, ours, func(id int64, r hosting.EngineObject) Work {
		return Work{
			Commands: []domain.Command{hosting.Confirm{Ref: ref, EngineID: id, Observed: r.Observed, Version: asked}},
			Rows:     []eventstore.Row{wakeWaiting(ref)},
			Learn:    func(j *Job) { j.Client = id },
		}
	}), nil
}

// siteCall makes the website. It is ours if our client owns it.
func (s *Sagas) siteCall(ctx context.Context, job Job) (Call, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return Call{}, err
	}
	site := siteOf(job, o)
	object := hosting.EngineObject{Kind: "site", Owner: job.Client, Name: site.Domain, Values: site.Fields().Values()}
	ours := func(found hosting.EngineObject) bool { return found.Owner == job.Client }
	ref := hosting.Ref{Kind: "site", ID: job.Site}
	return s.engineCall(ref, object, ours, func(id int64, r hosting.EngineObject) Work {
		return Work{
			Commands: []domain.Command{hosting.Confirm{Ref: ref, EngineID: id, Observed: r.Observed, Version: asked}},
			Rows:     []eventstore.Row{wakeWaiting(ref)},
		}
	}), nil
}

// errNotOurs: the name is taken by somebody else, who keeps it.
var errNotOurs = domain.Fail(domain.Permanent, "name_taken", errors.New("an object of that name belongs to somebody else"))

// engineCall makes one object at the engine, for a resource.
func (s *Sagas) engineCall(ref hosting.Ref, o hosting.EngineObject, ours func(hosting.EngineObject) bool, then func(int64, hosting.EngineObject) Work) Call {
	var last hosting.EngineObject // as the engine shows it, once we have looked
	look := func(ctx context.Context) (Result, Found, error) {
		found, is, err := s.engine.Find(ctx, o.Kind, o.Name, o.Ref)
		switch {
		case err != nil || !is:
			return Result{}, No, err
		case !ours(found):
			return Result{}, No, errNotOurs
		}
		last = found
		return Result{External: strconv.FormatInt(found.ID, 10)}, Yes, nil
	}
	return Call{
		// Values may change while we try; what the object is may not.
		Request: hosting.EngineObject{Kind: o.Kind, Owner: o.Owner, Name: o.Name, Ref: o.Ref},
		Claim:   Claim{Server: s.engine.Server(), Kind: o.Kind, Name: o.Name, Owner: ref.Stream()},
		Lookup:  look,
		Do: func(ctx context.Context) (Result, error) {
			id, err := s.engine.Create(ctx, o)
			if err != nil {
				return Result{}, err
			}
			// The owner is read again (rule E-7). No answer to that changes nothing: the wait looks again.
			if _, _, err := look(ctx); errors.Is(err, errNotOurs) {
				return Result{}, err
			}
			return Result{External: strconv.FormatInt(id, 10)}, nil
		},
		Undo: func(ctx context.Context, r Result) error {
			id, err := strconv.ParseInt(r.External, 10, 64)
			if err != nil {
				return domain.Fail(domain.Permanent, "no_id", err)
			}
			if _, found, err := look(ctx); err != nil || found == No {
				return err
			}
			return s.engine.Remove(ctx, hosting.EngineObject{Kind: o.Kind, ID: id, Owner: o.Owner, Name: o.Name, Ref: o.Ref})
		},
		Confirmed: func(r Result) Work {
			id, _ := strconv.ParseInt(r.External, 10, 64) // written by us, above
			return then(id, last)
		},
	}
}

func (s *Sagas) tenantReady(ctx context.Context, job Job) (bool, Work, error) {
	number := hosting.CustomerNumber(job.Tenant)
	found, is, err := s.engine.Find(ctx, "tenant", number, number)
	return is && found.Applied, Work{}, err
}

func (s *Sagas) siteReady(ctx context.Context, job Job) (bool, Work, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return false, Work{}, err
	}
	found, is, err := s.engine.Find(ctx, "site", siteOf(job, o).Domain, "")
	if err == nil && is && found.Owner != job.Client {
		err = errNotOurs
	}
	return is && found.Applied, Work{}, err
}

// vmCall makes the virtual server. It is ours only with our tag.
func (s *Sagas) vmCall(ctx context.Context, job Job) (Call, error) {
	o, err := s.order(ctx, job.Order)
	if err != nil {
		return Call{}, err
	}
	vm := machineOf(job, o).VM()
	return Call{
		Request: vm,
		Claim:   Claim{Server: s.compute.Server(), Kind: "vm", Name: vm.Name, Owner: hosting.Ref{Kind: "vm", ID: job.VM}.Stream()},
		Lookup: func(ctx context.Context) (Result, Found, error) {
			found, is, err := s.compute.FindVM(ctx, vm.Tag, vm.Name)
			switch {
			case err != nil || !is:
				return Result{}, No, err
			case found.Tag != vm.Tag:
				return Result{}, No, errNotOurs
			}
			return Result{External: found.External}, Yes, nil
		},
		Do: func(ctx context.Context) (Result, error) {
			external, err := s.compute.CreateVM(ctx, vm)
			return Result{External: external}, err
		},
		Undo: func(ctx context.Context, _ Result) error {
			found, is, err := s.compute.FindVM(ctx, vm.Tag, vm.Name)
			if err != nil || !is || found.Tag != vm.Tag {
				return err
			}
			return s.compute.RemoveVM(ctx, found.External)
		},
	}, nil
}

// vmReady is when the machine has booted: only then is it as it was ordered.
func (s *Sagas) vmReady(ctx context.Context, job Job) (bool, Work, error) {
	found, is, err := s.compute.FindVM(ctx, job.Order.String(), hosting.MachineName(job.VM))
	if err != nil || !is || found.State != "running" || found.Address == "" {
		return false, Work{}, err
	}
	if found.Tag != job.Order.String() {
		return false, Work{}, errNotOurs
	}
	address := (&hosting.Machine{Address: found.Address}).Fields().Values()["address"]
	return true, Work{Commands: []domain.Command{hosting.Confirm{
		Ref: hosting.Ref{Kind: "vm", ID: job.VM}, External: found.External, Observed: map[string]json.RawMessage{"address": address},
	}}}, nil
}
