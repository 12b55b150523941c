package hosting

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// A pageAct is something else that the API lets callers do with a record.
type pageAct struct {
	name   string
	shows  bool                 // something that is shown only once
	isOpen func(field.Set) bool // whether the state of the record allows it
	do     func(context.Context, route.Call, url.Values) (field.Record, error)
	inputs []web.Input
	grave  bool
}

// isIn tells whether a field of the record has this value.
func isIn(name, value string) func(field.Set) bool {
	return func(set field.Set) bool { f, has := set.Named(name); return has && f.FormText() == value }
}

// pageActs follow from the row of the kind.
func (k *collection) pageActs() (acts []pageAct) {
	if k.kind.KeyIn != "" {
		records := k.named(k.kind.KeyIn)
		acts = append(acts, pageAct{name: "panel_publish", isOpen: isIn("dkim_enabled", "true"), do: func(
			ctx context.Context, c route.Call, _ url.Values,
		) (field.Record, error) {
			return k.publish(ctx, c, records)
		}})
	}
	if k.kind.Issued {
		acts = append(acts, pageAct{name: "panel_renew", isOpen: isIn("cert_type", hosting.Acme), do: func(
			ctx context.Context, c route.Call, _ url.Values,
		) (field.Record, error) {
			return k.orderAgain(ctx, c, true)
		}})
	}
	return append(acts, k.machineActs()...)
}

func (e *endpoints) pageActs() []pageAct {
	always := func(field.Set) bool { return true }
	return []pageAct{{name: "panel_rotate", shows: true, isOpen: always, do: func(
		ctx context.Context, c route.Call, _ url.Values,
	) (field.Record, error) {
		return e.rotate(ctx, c, &route.Nothing{})
	}}}
}

// actNamed is what the API lets callers do under this name with records of the kind.
func (k pageKind) actNamed(name string) (pageAct, error) {
	i := slices.IndexFunc(k.acts, func(a pageAct) bool { return a.name == name })
	if i < 0 {
		return pageAct{}, route.Missing("Record")
	}
	return k.acts[i], nil
}

// takeAct does something with the record, once.
func (s *pages) takeAct(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	k, err := s.writable(ctx, c)
	if err != nil {
		return nil, err
	}
	act, err := k.actNamed(sent.Get("form"))
	if err != nil {
		return nil, err
	}
	var changed field.Record
	isRepeat, _, err := caller.FormOnce(ctx, s.callers, c, sent, func(c route.Call) (err error) {
		if c.Subject, _, err = k.findOpen(ctx, c); err == nil {
			changed, err = act.do(ctx, c, sent)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if act.shows && !isRepeat {
		return s.afterwards(ctx, c, k, changed.Fields(), act.name)
	}
	return s.web.Done(c.Path, act.name), nil
}

// An actForm is a form of the page of a record, with its heading.
type actForm struct {
	Title, About string
	Form         web.Form
}

// actForms are the forms for what may be done with the record.
func (s *pages) actForms(c route.Call, k pageKind, set field.Set, back *web.Returned) (all []actForm) {
	w := web.Texts[web.Readers(c)]
	for _, a := range k.acts {
		if a.isOpen(set) {
			all = append(all, newActForm(s.web, c, w, web.Form{Name: a.name, Action: c.Path, IsGrave: a.grave, Inputs: a.inputs}, back))
		}
	}
	if !k.has(hosting.Delete) {
		return all
	}
	remove := web.Form{Name: "panel_remove", Action: c.Path, IsGrave: true}
	if k.InUse != "" && len(k.Children()) > 0 {
		remove.Inputs = []web.Input{{Name: "force", Type: "check"}}
	}
	form := newActForm(s.web, c, w, remove, back)
	switch {
	case k.Owner:
		form.About = w["act_terminate_tenant_about"]
	case k.Soft:
		form.About = w["panel_remove_soft"]
	case k.Address != "":
		form.About = w["panel_remove_address"]
	}
	return append(all, form)
}

func newActForm(to *web.Renderer, c route.Call, w web.Words, f web.Form, back *web.Returned) actForm {
	f.Inputs = append(slices.Clone(f.Inputs), web.NumberInput())
	title, about := cmp.Or(w[f.Name+"_title"], w["act_"+f.Name]), cmp.Or(w[f.Name+"_about"], w["act_"+f.Name+"_about"])
	return actForm{title, about, to.Fill(c, f, back)}
}
