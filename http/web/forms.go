package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// A Form is one of a page: what it asks for, what was typed into it, and what
// is wrong with that (docs/accounts.md, "Pages").
type Form struct {
	Name    string // tells the forms of a page apart
	Action  string // path
	Inputs  []Input
	IsGrave bool   // what its button does cannot be undone
	Of      string // which of several forms of this name; "": the only one

	Token, Button string
	By, Secrets   string // whom it is shown to, and the names of fields that are not kept ([caller.FormBy])
	Words         Words
	Problems      []problem // in the order of the inputs
}

// An Input is one question of a form. What it is called and explained by
// stands in the texts, under its name.
type Input struct {
	Name         string
	Key          string // under which the texts know it; "": its name
	Type         string // of HTML; "": text, or "select", "lines", "check" (a box), "username" (for password managers alone)
	Value        string
	Autocomplete string
	Required     bool
	IsFixed      bool // shown, and not for typing
	Plain        bool // no words of a language: addresses, domains
	IsSecret     bool // typed anew after a mistake, as passwords are
	IsVeiled     bool // a secret that is shown while it is typed
	Focus        bool // where typing begins
	Min, Max     int  // of numbers; 0: no bound
	Long         int  // characters; 0: no bound
	Options      []Option
	Hints        []Option // what may be typed

	ID, Label, Note, Optional string
	About                     string // ids of what explains it
	Wrong                     []string
	now                       *string // what it is by now, if others have changed that
}

// NumberInput is hidden in forms that are carried out once ([caller.FormOnce]).
func NumberInput() Input { return Input{Name: "number", Type: "hidden", Value: rand.Text()} }

// An Option is what may be chosen.
type Option struct{ Value, Text string }

// A problem is one thing that is wrong, and with which input. ID is "" if it
// is none of them.
type problem struct{ ID, Label, Text string }

// A Returned form could not be carried out as it was sent.
type Returned struct {
	Form   string
	Sent   url.Values
	Wrong  field.Errors
	Status int

	after   time.Duration // until a repeat makes sense
	isStale bool          // others have changed the record meanwhile
}

// StatusOf is the status of a page on which a form was returned, or of one
// that is only looked at.
func (b *Returned) StatusOf() int {
	if b == nil {
		return http.StatusOK
	}
	return b.Status
}

// A FormPage is a page with forms: how it is shown, and who takes which form.
type FormPage struct {
	Show  func(context.Context, route.Call, *Returned) (*route.Document, error)
	Forms map[string]FormHandler
}

// A FormHandler carries out what a form asks for. A nil document shows the page.
type FormHandler func(context.Context, route.Call, url.Values) (*route.Document, error)

// Look shows the page to a visitor, with the form that was sent after their last session.
func (d FormPage) Look(ctx context.Context, c route.Call) (*route.Document, error) {
	kept := caller.VisitOf(c).Kept
	if _, known := d.Forms[kept.Get("form")]; !known {
		return d.Show(ctx, c, nil)
	}
	return d.Show(ctx, c, &Returned{
		Form: kept.Get("form"), Sent: kept, Status: http.StatusOK, Wrong: field.Errors{{Messages: []string{signedOut}}},
	})
}

// taking takes the forms of the page. One that cannot be carried out is
// shown again, with what is wrong.
func (s *Renderer) taking(d FormPage) func(context.Context, route.Call) (*route.Document, error) {
	return func(ctx context.Context, c route.Call) (*route.Document, error) {
		sent, err := c.Form()
		if err != nil {
			return nil, err
		}
		take, known := d.Forms[sent.Get("form")]
		if !known {
			return nil, &route.Refusal{Status: http.StatusForbidden, Detail: outOfDate, Slug: "permission_denied"}
		}
		var page *route.Document
		if err = s.ownForm(c, sent); err == nil {
			page, err = take(ctx, c, sent)
		}
		if err == nil {
			return page, nil
		}
		back := sentBack(sent, err)
		if back == nil {
			return nil, err
		}
		page, err = d.Show(ctx, c, back)
		if page != nil && back.after > 0 {
			page.Header.Set("Retry-After", seconds(back.after))
		}
		return page, err
	}
}

const signedOut = "You had been signed out. What you typed is here again, but for passwords: please check it and send it."

const outOfDate = "This form was out of date. Please check it and send it again."

var errForm = errors.New("the form is not one that this browser was shown")

// ownForm refuses forms that this browser was not shown.
func (s *Renderer) ownForm(c route.Call, sent url.Values) error {
	if !s.Callers.IsToken(caller.VisitOf(c).ID, sent.Get("form_token")) {
		return errForm
	}
	return nil
}

// sentBack is what to say in the form about an error; nil: it is not the
// sender's.
func sentBack(sent url.Values, err error) *Returned {
	back := &Returned{Form: sent.Get("form"), Sent: sent, Wrong: field.ErrorsOf(err)}
	var refusal *route.Refusal
	var business *domain.Error
	switch {
	case errors.Is(err, errForm):
		back.Status, back.Wrong = http.StatusForbidden, field.Errors{{Messages: []string{outOfDate}}}
	case len(back.Wrong) > 0:
		back.Status = http.StatusBadRequest
	case errors.As(err, &refusal) && (refusal.Status == http.StatusUnauthorized || refusal.Status == http.StatusTooManyRequests):
		back.Status, back.after = refusal.Status, refusal.After
		back.Wrong.Add("", refusal.Detail)
	case errors.Is(err, errChanged), domain.CodeOf(err) == domain.Stale:
		return back.stale()
	case errors.As(err, &business) && business.Code == domain.Conflict:
		back.Status = http.StatusConflict
		back.Wrong.Add("", business.Message)
	default:
		return nil
	}
	return back
}

// Fill makes a form ready to be shown: bound to the browser, in the reader's
// words, and with what was typed into it before.
func (s *Renderer) Fill(c route.Call, f Form, back *Returned) Form {
	f.Token, f.By = s.Callers.Token(caller.VisitOf(c).ID), s.Callers.By(caller.VisitOf(c))
	var secrets []string
	for _, in := range f.Inputs {
		if in.Type == "password" || in.IsSecret || in.IsVeiled {
			secrets = append(secrets, in.Name)
		}
	}
	f.Secrets = strings.Join(secrets, ",")
	return f.In(Readers(c), back)
}

// In is the form in a language.
func (f Form) In(language string, back *Returned) Form {
	f.Words, f.Button = Texts[language], Texts[language]["button_"+f.Name]
	if back != nil && (back.Form != f.Name || back.Sent.Get("of") != f.Of) {
		back = nil
	}
	for i := range f.Inputs {
		f.Inputs[i].restore(back, language)
		f.Inputs[i].explain(f.Name, f.Words)
	}
	if back != nil {
		f.Problems = f.problems(language, back.Wrong)
	}
	return f
}

// restore brings back what was typed, with what is wrong. Secrets are typed
// anew.
func (in *Input) restore(back *Returned, language string) {
	if back == nil || in.Name == versionName && back.isStale { // sent again, it is about what is shown now
		return
	}
	if back.isStale {
		now := in.Value
		in.now = &now
	}
	if values, sent := back.Sent[in.Name]; sent && in.Type != "password" && !in.IsSecret && !in.IsFixed {
		in.Value = values[len(values)-1]
	}
	if in.Type == "check" { // which is not sent unless it is ticked
		in.Value = back.Sent.Get(in.Name)
	}
	in.Wrong, in.Focus = messagesOn(back.Wrong, in.Name, language), false
}

func (in *Input) explain(form string, w Words) {
	in.ID = form + "-" + in.Name
	key := cmp.Or(in.Key, in.Name)
	in.Label = cmp.Or(w["label_"+form+"_"+key], w["label_"+key])
	for i, one := range in.Options {
		switch {
		case one.Text != "":
		case one.Value == "":
			in.Options[i].Text = w["none"]
		default:
			in.Options[i].Text = cmp.Or(w["choice_"+in.Name+"_"+one.Value], w["choice_"+one.Value], w["language_"+one.Value], one.Value)
		}
	}
	in.compare(w)
	in.Note = cmp.Or(w["note_"+form+"_"+key], w["note_"+key])
	if !in.Required && !in.IsFixed && in.Type != "select" && in.Type != "check" {
		in.Optional = w["optional"]
	}
	var about []string
	if in.Note != "" {
		about = append(about, in.ID+"-note")
	}
	if len(in.Wrong) > 0 {
		about = append(about, in.ID+"-wrong")
	}
	in.About = strings.Join(about, " ")
}

// HasPlaces tells whether something is wrong with an input of the form, and
// not only with the whole.
func (f Form) HasPlaces() bool {
	return slices.ContainsFunc(f.Problems, func(p problem) bool { return p.ID != "" })
}

// problems are all that is wrong, for the summary above the form.
func (f Form) problems(language string, wrong field.Errors) (all []problem) {
	for _, in := range f.Inputs {
		for _, text := range in.Wrong {
			all = append(all, problem{in.ID, in.Label, text})
		}
	}
	for _, w := range wrong {
		if !f.asks(w.Field) {
			for _, text := range messages(w, language) {
				all = append(all, problem{Text: text})
			}
		}
	}
	return all
}

func (f Form) asks(name string) bool {
	for _, in := range f.Inputs {
		if in.Name == name {
			return true
		}
	}
	return false
}

// messagesOn are what is wrong with one input.
func messagesOn(wrong field.Errors, name, language string) (all []string) {
	for _, w := range wrong {
		if w.Field == name {
			all = append(all, messages(w, language)...)
		}
	}
	return all
}

// messages are what is wrong with a field; those about an item of a list begin
// with its number.
func messages(w field.Wrong, language string) []string {
	all := translated(language, w.Messages)
	for _, item := range w.Items {
		place, _ := strconv.Atoi(item.Field)
		for _, text := range messages(item, language) {
			all = append(all, fmt.Sprintf("%d: %s", place+1, text))
		}
	}
	return all
}

// View declares a page that is only looked at.
func View(path, summary string, show func(context.Context, route.Call) (*route.Document, error)) route.Route {
	return route.View(http.MethodGet, path, summary, show)
}

// Press declares what the forms of a page do.
func (s *Renderer) Press(path, summary string, d FormPage) route.Route {
	return route.View(http.MethodPost, path, summary, s.taking(d))
}
