package hosting

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// The forms of all kinds are made from their fields: a reference is a choice among the
// records that there are, a flag a box, a list has an item a line. What a form brings is
// decoded and checked as a body of the API is.

func (s *pages) addPage() web.FormPage {
	return web.FormPage{Show: s.showAdd, Forms: map[string]web.FormHandler{"panel_create": s.takeCreate}}
}

func (s *pages) editPage() web.FormPage {
	return web.FormPage{Show: s.showEdit, Forms: map[string]web.FormHandler{"panel_change": s.takeChange}}
}

// addable is the kind that a path names, if the caller may make a record of it.
func (s *pages) addable(ctx context.Context, c route.Call) (pageKind, error) {
	k, err := s.writable(c)
	switch {
	case err != nil:
		return k, err
	case !k.has(hosting.Create):
		return k, route.Missing("Record")
	}
	return k, k.bar(ctx, c)
}

func (s *pages) showAdd(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	k, err := s.addable(ctx, c)
	if err != nil {
		return nil, err
	}
	blank := k.blank()
	_, _ = blank.Fields().Decode(field.Value{Kind: field.ObjectValue}, field.Create) // for its defaults; what is required is not there yet
	inputs, err := s.inputs(ctx, c, k, blank.Fields(), field.Create)
	if err != nil {
		return nil, err
	}
	form := web.Form{Name: "panel_create", Action: c.Path, Inputs: append(inputs, numberInput())}
	return s.showForm(ctx, c, k, form, back, web.Texts[web.Readers(c)]["panel_add"]+": "+k.Noun(web.Readers(c)), nil)
}

func (s *pages) showEdit(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	k, err := s.writable(c)
	if err == nil && !k.has(hosting.Patch) {
		err = route.Missing("Record")
	}
	if err != nil {
		return nil, err
	}
	found, _, err := k.findOpen(ctx, c)
	if err != nil {
		return nil, err
	}
	set := k.shown(found).Fields()
	inputs, err := s.inputs(ctx, c, k, found.(field.Record).Fields(), field.Patch) //nolint:forcetypeassert // as requests have it
	if err != nil {
		return nil, err
	}
	form := web.Form{Name: "panel_change", Action: c.Path, Inputs: inputs}
	return s.showForm(ctx, c, k, form, back, web.Texts[web.Readers(c)]["panel_edit"]+": "+k.title(set), []step{{k.Page(c.ID("id")), k.title(set)}})
}

func (s *pages) showForm(ctx context.Context, c route.Call, k pageKind, form web.Form, back *web.Returned, title string, more []step) (*route.Document, error) {
	language := web.Readers(c)
	return s.sheet(ctx, c, back.StatusOf(), "panel_form", title, map[string]any{
		"Way": append(k.way(web.Texts[language], language), more...), "Form": s.Fill(c, form, back),
	})
}

// numberInput is hidden in forms that are carried out once.
func numberInput() web.Input { return web.Input{Name: "number", Type: "hidden", Value: rand.Text()} }

// isAsked tells whether a form of the mode asks for a field. Whose a record is follows from
// the tenant for which the user acts.
func isAsked(f field.Field, mode field.Mode) bool {
	return !f.IsReadOnly() && f.Name != "tenant" && (mode == field.Create || !f.IsOnce())
}

// inputs are the questions of a form, with the values that the record has.
func (s *pages) inputs(ctx context.Context, c route.Call, k pageKind, set field.Set, mode field.Mode) (all []web.Input, err error) {
	for _, f := range set {
		if !isAsked(f, mode) {
			continue
		}
		in := k.input(c, f, mode)
		if ref := k.reference(f.Name); ref.Field != "" {
			if err := s.offer(ctx, c, &in, ref, f); err != nil {
				return nil, err
			}
		}
		all = append(all, in)
	}
	return all, nil
}

// input is the question for a field.
func (k pageKind) input(c route.Call, f field.Field, mode field.Mode) web.Input {
	w, about := web.Texts[web.Readers(c)], f.Metadata()
	in := web.Input{
		Name: f.Name, Key: strings.TrimPrefix(labelOf(w, k, f.Name), "label_"), Value: f.FormText(), Autocomplete: "off", Plain: true,
		Required: f.IsRequired() && (mode == field.Create || !f.IsSecret()),
	}
	if asked := c.Param(f.Name); mode == field.Create && asked != "" && f.IsReference() {
		in.Value = asked
	}
	if about.MaxLength != nil && !f.IsList() {
		in.Long = int(*about.MaxLength)
	}
	switch {
	case about.Type == "boolean":
		in.Type = "check"
	case len(about.Choices) > 0:
		in.Type, in.Options = "select", k.options(w, f, about.Choices)
	case f.IsSecret():
		in.Value, in.Autocomplete = "", "new-password"
		in.Type = map[bool]string{true: "lines", false: "password"}[f.HasLines()]
	case f.IsList(), f.HasLines():
		in.Type = "lines"
	case about.Type == "integer":
		in.Type = "number"
		in.Min, in.Max = boundOf(about.MinValue), boundOf(about.MaxValue)
	}
	return in
}

// boundOf is a bound of a number; 0: it has none.
func boundOf(n *int64) int {
	if n == nil {
		return 0
	}
	return int(*n)
}

// options are the texts that a field may be.
func (k pageKind) options(w web.Words, f field.Field, choices []field.Choice) (all []web.Option) {
	if !f.IsRequired() && f.FormText() == "" {
		all = append(all, web.Option{Text: w["none"]})
	}
	for _, choice := range choices {
		text := w["choice_"+f.Name+"_"+choice.Value]
		if text == "" {
			text = choice.Value
		}
		all = append(all, web.Option{Value: choice.Value, Text: text})
	}
	return all
}

const mostOffered = 500 // records of a choice; any other is named by its number

// offer makes an input a choice among the records to which its reference may lead.
func (s *pages) offer(ctx context.Context, c route.Call, in *web.Input, ref hosting.Reference, f field.Field) error {
	target := s.kindOf(ref.Kind)
	found, err := s.Scope(c).OfKind(ctx, target.kind, projections.Listing{Limit: mostOffered, Order: []projections.Ordering{{Field: target.kind.Called}}})
	if err != nil {
		return err
	}
	options := make([]web.Option, len(found.Rows))
	for i, row := range found.Rows {
		options[i] = web.Option{Value: strconv.FormatInt(row.ID, 10), Text: calledIn(target.kind, row)}
	}
	if found.Count > mostOffered {
		in.Hints = options
		return nil
	}
	in.Type = "select"
	if _, mayBeNone := f.Value().(*int64); mayBeNone || len(options) == 0 {
		options = append([]web.Option{{Text: web.Texts[web.Readers(c)]["none"]}}, options...)
	}
	if in.Value == "0" {
		in.Value = ""
	}
	in.Options = options
	return nil
}

// decode fills a record from a form, as the body of a request fills it, and says all that
// is wrong with it.
func (k pageKind) decode(ctx context.Context, c *route.Call, into field.Record, sent url.Values, mode field.Mode) error {
	body := field.Value{Kind: field.ObjectValue}
	for _, f := range into.Fields() {
		if isAsked(f, mode) {
			if v, has := valueIn(f, sent, mode); has {
				body.Items = append(body.Items, v)
			}
		}
	}
	set, err := into.Fields().Decode(body, mode)
	c.Sent = set
	wrong := field.ErrorsOf(err)
	if err := k.check(ctx, *c, into, &wrong); err != nil {
		return err
	}
	return wrong.In(into.Fields()).Err()
}

// valueIn is what a form says of a field. A box that is not ticked is not sent; what was
// left empty was not sent where a record is made, and neither is an empty password.
func valueIn(f field.Field, sent url.Values, mode field.Mode) (field.Value, bool) {
	text := sent.Get(f.Name)
	if _, isFlag := f.Value().(bool); isFlag {
		text = strconv.FormatBool(text == "true")
	}
	if !f.IsVerbatim() {
		text = strings.TrimSpace(text)
	}
	if text == "" && (mode == field.Create && !f.IsRequired() || mode == field.Patch && f.IsSecret()) {
		return field.Value{}, false
	}
	return f.Sent(text), true
}

// takeCreate makes a record, once, and shows what is shown of it only once.
func (s *pages) takeCreate(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	k, err := s.addable(ctx, c)
	if err != nil {
		return nil, err
	}
	key := caller.FormKey(s.Callers, c, sent.Get("number"))
	c = c.Once(key)
	done, location, err := caller.FormDone(ctx, s.Callers, key)
	if err != nil {
		return nil, err
	}
	if done {
		return s.Done(k.pageAt(location), "panel_create"), nil
	}
	made := k.blank()
	if err = k.decode(ctx, &c, made, sent, field.Create); err == nil {
		made, err = k.create(ctx, c, made)
	}
	if err != nil {
		if done, location, look := caller.FormDone(ctx, s.Callers, key); look == nil && done { // a twin was faster
			return s.Done(k.pageAt(location), "panel_create"), nil
		}
		return nil, err
	}
	return s.afterwards(ctx, c, k, made.Fields(), "panel_create")
}

// pageAt is the page of the record at a path of the API.
func (k pageKind) pageAt(location string) string {
	id, err := strconv.ParseInt(path.Base(location), 10, 64)
	if err != nil {
		return k.Page(0)
	}
	return k.Page(id)
}

func (s *pages) takeChange(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	k, err := s.writable(c)
	if err != nil {
		return nil, err
	}
	found, _, err := k.findOpen(ctx, c)
	if err != nil {
		return nil, err
	}
	c.Subject = found
	if err := k.decode(ctx, &c, found.(field.Record), sent, field.Patch); err != nil { //nolint:forcetypeassert // as requests have it
		return nil, err
	}
	if _, err := k.change(ctx, c, found); err != nil {
		return nil, err
	}
	return s.Done(k.Page(c.ID("id")), "panel_change"), nil
}

// afterwards leads to a record that was made or changed. What the answer of the API shows
// only once is shown first.
func (s *pages) afterwards(ctx context.Context, c route.Call, k pageKind, set field.Set, notice string) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	secrets := k.shownOnce(w, set)
	if len(secrets) == 0 {
		return s.Done(k.Page(numberOf(set)), notice), nil
	}
	return s.sheet(ctx, c, http.StatusOK, "panel_secret", w["panel_secret_title"], map[string]any{
		"Way": k.way(w, web.Readers(c)), "Secrets": secrets, "Record": k.title(set), "Path": k.Page(numberOf(set)),
	})
}

// shownOnce are the secrets that were made for a record.
func (k pageKind) shownOnce(w web.Words, set field.Set) (all []web.Aspect) {
	for _, f := range set {
		if !f.IsOneTime() {
			continue
		}
		if given, is := f.Value().(*credentials); is && given != nil {
			for _, part := range given.Fields() {
				all = append(all, web.Aspect{Name: w[labelOf(w, k, part.Name)], Text: part.FormText()})
			}
			continue
		}
		if text := f.FormText(); text != "" {
			all = append(all, web.Aspect{Name: w[labelOf(w, k, f.Name)], Text: text})
		}
	}
	return slices.Clip(all)
}

// labelOf names the text that a field is called by: that of the kind, or of all kinds.
func labelOf(w web.Words, k pageKind, name string) string {
	if own := "label_" + k.Name + "_" + name; w[own] != "" {
		return own
	}
	return "label_record_" + name
}
