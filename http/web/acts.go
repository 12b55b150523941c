package web

import (
	"cmp"
	"context"
	"net/url"

	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// An Act is what a user may do with something by a form of its page. The form has the
// fields of the call of the API with this name, and does the same.
type Act[S any] struct {
	Name   string
	IsOpen func(S) bool // whether the state may allow it
	Grave  bool
	Asks   bool              // for the password
	Leaves string            // the page to which it leads when it is done; blank: its own
	Inputs func(S) []Input   // what the form asks besides; nil: nothing
	Edits  func(S) field.Set // the fields that the form changes; nil: it changes none
	Do     func(context.Context, route.Call, S, url.Values) error
}

// An ActPage is a page about one thing, with forms for what may be done with it.
type ActPage[S any] struct {
	Web  *Renderer
	Find func(context.Context, route.Call) (S, error)
	Acts []Act[S]
	Show func(ctx context.Context, c route.Call, about S, acts []ActForm, back *Returned) (*route.Document, error)
}

// ActRoutes are the page and its forms. Like all that works on an [ActPage] it is a function: methods
// of a generic type are compiled again in each package that sees the type.
func ActRoutes[S any](p ActPage[S], path, name, of, looks, acts string) []route.Route {
	page := ActFormPage(p)
	return []route.Route{
		View(path, looks, page.Look).As(name + "_page").Of(of),
		p.Web.Press(path, acts, page).As(name + "_form").Of(of),
	}
}

// ActFormPage is the page with what takes its forms.
func ActFormPage[S any](p ActPage[S]) FormPage {
	page := FormPage{Forms: map[string]FormHandler{}}
	page.Show = func(ctx context.Context, c route.Call, back *Returned) (*route.Document, error) {
		about, err := p.Find(ctx, c)
		if err != nil {
			return nil, err
		}
		return p.Show(ctx, c, about, actForms(p, c, about, back), back)
	}
	for _, a := range p.Acts {
		page.Forms[a.Name] = carryOut(p, a)
	}
	return page
}

// carryOut does what a form asks for, once, and shows the page again, or the one that it
// leads to.
func carryOut[S any](p ActPage[S], a Act[S]) FormHandler {
	return func(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
		_, _, err := caller.FormOnce(ctx, p.Web.Callers, c, sent, func(c route.Call) error {
			about, err := p.Find(ctx, c)
			if err != nil {
				return err
			}
			if a.Asks {
				if err := p.Web.AskUnlessFresh(ctx, c, sent); err != nil {
					return err
				}
			}
			if a.Edits != nil {
				if c, err = Unchanged(c, sent, a.Edits(about)); err != nil {
					return err
				}
			}
			c.Subject = about
			return a.Do(ctx, c, about, sent)
		})
		if err != nil {
			return nil, err
		}
		d := p.Web.Done(cmp.Or(a.Leaves, c.Path), a.Name)
		if a.Asks {
			p.Web.RenewUnlessFresh(ctx, c, d)
		}
		return d, nil
	}
}

// An ActForm is a form of the page with its heading.
type ActForm struct {
	Title, About string
	Form         Form
}

// actForms are those for what the state may allow. What it forbids after all is said at
// the form.
func actForms[S any](p ActPage[S], c route.Call, about S, back *Returned) (all []ActForm) {
	w := Texts[Readers(c)]
	for _, a := range p.Acts {
		if !a.IsOpen(about) && (back == nil || back.Form != a.Name) {
			continue
		}
		f := Form{Name: a.Name, Action: c.Path, IsGrave: a.Grave, Inputs: asked(a, about)}
		if a.Asks {
			f.Inputs = append(f.Inputs, p.Web.PasswordInputs(c)...)
		}
		f.Inputs = append(f.Inputs, NumberInput())
		all = append(all, ActForm{w["act_"+a.Name], w["act_"+a.Name+"_about"], p.Web.Fill(c, f, back)})
	}
	return all
}

// asked are the inputs of the form, besides a password.
func asked[S any](a Act[S], about S) []Input {
	var all []Input
	if a.Inputs != nil {
		all = a.Inputs(about)
	}
	if a.Edits == nil {
		return all
	}
	set := a.Edits(about)
	return append(append(all, RecordInputs(set, field.Patch)...), VersionInput(set))
}

// Pressed decodes a form and carries it out.
func Pressed[S, Q any, PQ interface {
	*Q
	field.Record
}](do func(context.Context, route.Call, S, PQ) error) func(context.Context, route.Call, S, url.Values) error {
	return func(ctx context.Context, c route.Call, about S, sent url.Values) error {
		wanted := PQ(new(Q))
		if err := DecodeForm(wanted, sent); err != nil {
			return err
		}
		return do(ctx, c, about, wanted)
	}
}

// Always is the state that every act may be allowed in.
func Always[S any](S) bool { return true }
