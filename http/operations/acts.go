package operations

import (
	"context"
	"net/url"

	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// An act is what an operator may do with something by a form of its page. The form has
// the fields of the call of the API with this name, and does the same.
type act[S any] struct {
	name   string
	isOpen func(S) bool // whether the state may allow it
	grave  bool
	asks   bool // for the password
	inputs func(S) []web.Input
	do     func(context.Context, route.Call, S, url.Values) error
}

// An actPage is a page about one thing, with forms for what may be done with it.
type actPage[S any] struct {
	Deps
	find func(context.Context, route.Call) (S, error)
	acts []act[S]
	show func(ctx context.Context, c route.Call, about S, acts []actForm, back *web.Returned) (*route.Document, error)
}

// routes are the page and its forms.
func (p actPage[S]) routes(path, name, of, looks, acts string) []route.Route {
	page := p.page()
	return []route.Route{
		web.View(path, looks, page.Look).As(name + "_page").Of(of),
		p.Press(path, acts, page).As(name + "_form").Of(of),
	}
}

func (p actPage[S]) page() web.FormPage {
	page := web.FormPage{Forms: map[string]web.FormHandler{}}
	page.Show = func(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
		about, err := p.find(ctx, c)
		if err != nil {
			return nil, err
		}
		return p.show(ctx, c, about, p.forms(c, about, back), back)
	}
	for _, a := range p.acts {
		page.Forms[a.name] = p.carryOut(a)
	}
	return page
}

// carryOut does what a form asks for, once, and shows the page again.
func (p actPage[S]) carryOut(a act[S]) web.FormHandler {
	return func(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
		_, _, err := caller.FormOnce(ctx, p.Callers, c, sent.Get("number"), func(c route.Call) error {
			about, err := p.find(ctx, c)
			if err != nil {
				return err
			}
			if a.asks {
				if err := p.AskUnlessFresh(ctx, c, sent); err != nil {
					return err
				}
			}
			c.Subject = about
			return a.do(ctx, c, about, sent)
		})
		if err != nil {
			return nil, err
		}
		d := p.Done(c.Path, a.name)
		if a.asks {
			p.RenewUnlessFresh(ctx, c, d)
		}
		return d, nil
	}
}

// An actForm is a form of the page with its heading.
type actForm struct {
	Title, About string
	Form         web.Form
}

// forms are those for what the state may allow. What it forbids after all is said at
// the form.
func (p actPage[S]) forms(c route.Call, about S, back *web.Returned) (all []actForm) {
	w := web.Texts[web.Readers(c)]
	for _, a := range p.acts {
		if !a.isOpen(about) && (back == nil || back.Form != a.name) {
			continue
		}
		f := web.Form{Name: a.name, Action: c.Path, IsGrave: a.grave, Inputs: a.inputs(about)}
		if a.asks {
			f.Inputs = append(f.Inputs, p.PasswordInputs(c)...)
		}
		f.Inputs = append(f.Inputs, web.NumberInput())
		all = append(all, actForm{w["act_"+a.name], w["act_"+a.name+"_about"], p.Fill(c, f, back)})
	}
	return all
}

// pressed decodes a form and carries it out.
func pressed[S, Q any, PQ interface {
	*Q
	field.Record
}](do func(context.Context, route.Call, S, PQ) error) func(context.Context, route.Call, S, url.Values) error {
	return func(ctx context.Context, c route.Call, about S, sent url.Values) error {
		wanted := PQ(new(Q))
		if err := web.DecodeForm(wanted, sent); err != nil {
			return err
		}
		return do(ctx, c, about, wanted)
	}
}

func always[S any](S) bool { return true }

func reasonInput[S any](S) []web.Input {
	return []web.Input{{Name: "reason", Required: true, Autocomplete: "off", Long: reasonMost}}
}

func optionalReason[S any](S) []web.Input {
	return []web.Input{{Name: "reason", Autocomplete: "off", Long: reasonMost}}
}
