package hosting

import (
	"context"
	"net/http"
	"net/url"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// Machines are served like all kinds; what owners do with them beside changing fields
// follows from [hosting.MachineActs] (docs/machines.md, "What owners do").

func (s *Area) machineRoutes() (all []route.Route) {
	for _, kind := range hosting.Kinds {
		for _, act := range kind.Acts {
			all = append(all, s.kinds.of(kind).actRoute(act))
		}
		if kind.Shows != "" {
			all = append(all, passwordRoute(s.kinds.of(kind)))
		}
	}
	return all
}

func (k *collection) actRoute(act hosting.MachineAct) route.Route {
	do := func(ctx context.Context, c route.Call, f *hosting.MachineForm) (*hosted, error) {
		f.Sent = c.Sent
		return k.actOnMachine(ctx, c, f)
	}
	r := k.shaped(route.Post(k.path()+"{id:int}/"+act.Name+"/", act.Title+" ("+k.kind.Label+")", do))
	return r.As(k.kind.Name+"_"+act.Name).Of(k.kind.Class).With(http.StatusOK).For(k.writers()).Finding(k.findOpen).
		Asking(func() field.Record { return act.FormOf() }).
		Saying(act.About).
		Failing(http.StatusConflict, "It cannot be done with the machine as it is.")
}

func (k *collection) actOnMachine(ctx context.Context, c route.Call, f *hosting.MachineForm) (*hosted, error) {
	w := c.Subject.(*resource) //nolint:forcetypeassert // found by findOpen
	receipt, err := k.machines.Act(ctx, c.CauseOf, caller.Of(c).Reader(), w.Draft, f)
	return k.changed(ctx, c, w, receipt, err)
}

// A madePassword is one that the panel has made up, in the answer that shows it.
type madePassword struct {
	*resource
	password *string
}

// Fields are the password, and whose it is.
func (p *madePassword) Fields() field.Set {
	name := hosting.TextIn(p.Spec, p.Kind.Called)
	return field.Set{
		field.Int("id", &p.ID).ReadOnly(),
		field.Text(p.Kind.Called, &name).ReadOnly(),
		field.NullText(p.Kind.Shows, &p.password).OneTime().ReadOnly().Doc("It is shown only here, and only once."),
	}
}

func passwordRoute(k *collection) route.Route {
	show := func(ctx context.Context, c route.Call, _ *route.Nothing) (*madePassword, error) {
		return k.showPassword(ctx, c)
	}
	return route.Post(k.path()+"{id:int}/"+k.kind.Shows+"/", "Show the password of a "+k.kind.Label, show).
		As(k.kind.Name+"_"+k.kind.Shows).Of(k.kind.Class).With(http.StatusOK).For(k.callers.TenantAdmin()).Finding(k.findOpen).
		Answering(func() field.Set { return (&madePassword{resource: k.empty()}).Fields() }).
		Keeping("").
		Saying("A system that is installed without an SSH key and without a password gets one that the panel makes up. It is "+
			"shown once, within 30 days.").
		Failing(http.StatusConflict, "There is none to show, or no more (no_password).")
}

func (k *collection) showPassword(ctx context.Context, c route.Call) (*madePassword, error) {
	w := c.Subject.(*resource) //nolint:forcetypeassert // found by findOpen
	password, err := k.machines.ShowPassword(ctx, c.Cause(), w.row)
	c.Set("Cache-Control", "no-store")
	return &madePassword{w, &password}, err
}

// passwordAct shows the password on the page of a machine, where [pages.signIn] has its button.
func passwordAct(k *collection) pageAct {
	never := func(field.Set) bool { return false }
	return pageAct{name: showsPassword, shows: true, isOpen: never, do: func(
		ctx context.Context, c route.Call, _ url.Values,
	) (field.Record, error) {
		if !caller.Of(c).Administers() {
			return nil, route.NoPermission
		}
		return k.showPassword(ctx, c)
	}}
}

const showsPassword = "machine_password"

// A signIn is how owners sign in to a machine.
type signIn struct {
	Commands []string // of a shell, by address
	How      string   // the name of a text
	Console  string   // the page of its screen
	Password *web.Form
}

// signIn is how the owners of the machine that a path names sign in.
func (s *pages) signIn(ctx context.Context, c route.Call, k pageKind, back *web.Returned) (*signIn, error) {
	if k.Shows == "" || !s.web.AsOf.IsZero() {
		return nil, nil //nolint:nilnil // others have no such section
	}
	row, err := s.kinds.of(k.Kind).scopeOf(c).Hosting().Resource(ctx, hosting.Ref{Kind: k.Name, ID: c.ID("id")})
	if err != nil {
		return nil, err
	}
	var m hosting.Machine
	if err := row.Load(&m); err != nil {
		return nil, err
	}
	in := &signIn{How: "sign_in_password", Console: web.ServicesPath + m.Tag + "/console/"}
	for _, address := range m.Reached() {
		in.Commands = append(in.Commands, "ssh root@"+address)
	}
	waits, err := s.kinds.machines.HasPassword(ctx, row)
	switch form := newActForm(s.web, c, web.Texts[web.Readers(c)], web.Form{Name: showsPassword, Action: c.Path}, back).Form; {
	case len(m.DiskKeys) > 0:
		in.How = "sign_in_key"
	case waits && caller.Of(c).Administers():
		in.How, in.Password = "sign_in_shown_once", &form
	case waits:
		in.How = "sign_in_ask"
	}
	return in, err
}

// machineActs are the acts on the page of a machine.
func (k *collection) machineActs() (all []pageAct) {
	for _, act := range k.kind.Acts {
		all = append(all, pageAct{
			name: "machine_" + act.Name, grave: act.IsGrave, inputs: actInputs(act.FormOf().Fields()),
			isOpen: func(set field.Set) bool { return act.IsOpen(isIn("rescue", "true")(set)) },
			do: func(ctx context.Context, c route.Call, sent url.Values) (field.Record, error) {
				f := act.FormOf()
				c, err := web.ReadRecord(ctx, c, f, f.Fields(), f.Fields(), sent, field.Create, nothingWrong)
				if f.Sent = c.Sent; err != nil {
					return nil, err
				}
				return k.actOnMachine(ctx, c, f)
			},
		})
	}
	if k.kind.Shows != "" {
		all = append(all, passwordAct(k))
	}
	return all
}

// actInputs ask for what an act takes, under the names that fields of records have.
func actInputs(set field.Set) []web.Input {
	all := web.RecordInputs(set, field.Create)
	for i := range all {
		all[i].Key = "record_" + all[i].Name
	}
	return all
}

func nothingWrong(context.Context, route.Call, *hosting.MachineForm, *field.Errors) error { return nil }

// hasMachines tells whether a tenant has a machine. Others see no page of them.
func (k *collection) hasMachines(ctx context.Context, tenant int64) (bool, error) {
	of := k.kind
	if parent, isPart := of.Parent(); isPart {
		of, _ = hosting.KindNamed(parent.Kind)
	}
	found, err := k.callers.System().Hosting().OfKind(ctx, of, projections.Listing{
		Limit: 1, Filters: []projections.Filter{{Field: "tenant", Op: "=", Value: tenant}},
	})
	return found.Count > 0, err
}
