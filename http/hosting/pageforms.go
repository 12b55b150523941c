package hosting

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// The forms of all kinds are made from their fields: a reference is a choice among the
// records that there are, a flag a box, a list has an item a line. What a form brings is
// decoded and checked as a body of the API is.

// addable is the kind that a path names, if the caller may make a record of it.
func (s *pages) addable(ctx context.Context, c route.Call) (pageKind, error) {
	k, err := s.writable(ctx, c)
	switch {
	case err != nil:
		return k, err
	case !k.has(hosting.Create):
		return k, route.Missing("Record")
	}
	return k, k.bar(ctx, c)
}

// An obstacle is why a tenant cannot have a further record of a kind now, and the page that
// helps; the zero value: nothing is in the way.
type obstacle struct{ Text, Path, Way string }

// obstacleTo looks for the parent that a record needs, and at the limit of its kind.
func (s *pages) obstacleTo(ctx context.Context, c route.Call, k pageKind) (o obstacle, err error) {
	language, scope := web.Readers(c), s.callers.System().Hosting()
	w := web.Texts[language]
	if ref, is := k.Parent(); is {
		parent := s.kinds.named(ref.Kind).kind
		l := projections.Listing{Limit: 1, Filters: []projections.Filter{{Field: "tenant", Op: "=", Value: actsFor(c)}}}
		found, err := scope.OfKind(ctx, parent, l)
		if err != nil || found.Count == 0 {
			return obstacle{
				strings.NewReplacer("{kind}", k.Noun(language), "{parent}", parent.Noun(language)).Replace(w["panel_first"]),
				parent.Page(0) + "new/", w["panel_add"] + ": " + parent.Noun(language),
			}, err
		}
	}
	if k.Quota == "" || k.Owner {
		return o, nil
	}
	used, most, err := scope.Limit(ctx, k.Kind, actsFor(c))
	if err != nil || most == hosting.Unlimited || used < most {
		return o, err
	}
	text := w["panel_full"]
	if most == 0 {
		text = w["panel_not_sold"]
	}
	text = strings.NewReplacer("{kinds}", k.Several(language), "{most}", strconv.FormatInt(most, 10)).Replace(text)
	return obstacle{text, web.SubscriptionsPath, w["subscriptions_title"]}, nil
}

func (s *pages) showAdd(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	k, err := s.addable(ctx, c)
	if err != nil {
		return nil, err
	}
	hinders, err := s.obstacleTo(ctx, c, k)
	if err != nil || back == nil && hinders != (obstacle{}) {
		return s.showObstacle(ctx, c, k, hinders, err)
	}
	blank := k.blank()
	_, _ = blank.Fields().Decode(field.Value{Kind: field.ObjectValue}, field.Create) // for its defaults; what is required is not there yet
	inputs, err := s.inputs(ctx, c, k, blank.Fields(), field.Create)
	if err != nil {
		return nil, err
	}
	form := web.Form{Name: "panel_create", Action: c.Path, Inputs: append(inputs, web.NumberInput())}
	return s.showForm(ctx, c, k, form, back, web.Texts[web.Readers(c)]["panel_add"]+": "+k.Noun(web.Readers(c)), nil)
}

// showObstacle is the page in place of a form that could not be sent.
func (s *pages) showObstacle(ctx context.Context, c route.Call, k pageKind, o obstacle, failed error) (*route.Document, error) {
	if failed != nil {
		return nil, failed
	}
	w, language := web.Texts[web.Readers(c)], web.Readers(c)
	return s.sheet(ctx, c, http.StatusOK, "panel_obstacle", w["panel_add"]+": "+k.Noun(language), map[string]any{
		"Way": k.way(w, language), "Obstacle": o,
	})
}

func (s *pages) showEdit(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	k, err := s.writable(ctx, c)
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
	set, sent := k.shown(found).Fields(), found.(field.Record).Fields() //nolint:forcetypeassert // as requests have it
	inputs, err := s.inputs(ctx, c, k, sent, field.Patch)
	if err != nil {
		return nil, err
	}
	form := web.Form{Name: "panel_change", Action: c.Path, Inputs: append(inputs, web.VersionInput(k.questions(sent, field.Patch)))}
	return s.showForm(
		ctx, c, k, form, back, web.Texts[web.Readers(c)]["panel_edit"]+": "+k.title(set),
		[]step{{k.Page(c.ID("id")), k.title(set)}},
	)
}

func (s *pages) showForm(
	ctx context.Context, c route.Call, k pageKind, form web.Form, back *web.Returned, title string, more []step,
) (*route.Document, error) {
	language := web.Readers(c)
	return s.sheet(ctx, c, back.StatusOf(), "panel_form", title, map[string]any{
		"Way": append(k.way(web.Texts[language], language), more...), "Form": s.web.Fill(c, form, back),
	})
}

// questions are the fields that a form of the mode asks for. Whose a record is follows from
// the tenant for which the user acts.
func (k pageKind) questions(set field.Set, mode field.Mode) field.Set {
	return slices.DeleteFunc(slices.Clone(set), func(f field.Field) bool {
		return f.Name == "tenant" || !web.IsAsked(f, mode) || k.asks != nil && !slices.Contains(k.asks, f.Name)
	})
}

// inputs are the questions of a form, with the values that the record has.
func (s *pages) inputs(ctx context.Context, c route.Call, k pageKind, set field.Set, mode field.Mode) (all []web.Input, err error) {
	for _, f := range k.questions(set, mode) {
		in := k.input(c, f, mode)
		if ref := k.reference(f.Name); ref.Field != "" {
			offer := s.offer
			if k.options != nil {
				offer = k.offerOptions
			}
			if err := offer(ctx, c, &in, ref, f); err != nil {
				return nil, err
			}
		}
		if in.Type != "select" || len(in.Options) > 0 {
			all = append(all, in)
		}
	}
	return all, nil
}

// input is the question for a field. A query may name what a new record belongs to.
func (k pageKind) input(c route.Call, f field.Field, mode field.Mode) web.Input {
	in := web.RecordInput(f, mode)
	in.Key, in.Plain = web.Texts[web.Readers(c)].FieldKey(k.Name, f.Name), true
	if named := c.Param(f.Name); mode == field.Create && named != "" && f.IsReference() {
		in.Value = named
	}
	return in
}

const mostOffered = 500 // records of a choice; any other is named by its number

// offer makes an input a choice among the records to which its reference may lead.
func (s *pages) offer(ctx context.Context, c route.Call, in *web.Input, ref hosting.Reference, f field.Field) error {
	target := s.kinds.named(ref.Kind)
	found, err := s.callers.Scope(c).Hosting().OfKind(
		ctx, target.kind,
		ofTenant(c, projections.Listing{Limit: mostOffered, Order: []projections.Ordering{{Field: target.kind.Called}}}),
	)
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

// offerOptions makes an input a choice among the options that the kind has.
func (k pageKind) offerOptions(ctx context.Context, c route.Call, in *web.Input, _ hosting.Reference, f field.Field) (err error) {
	in.Type = "select"
	in.Options, err = k.options(ctx, c, f)
	return err
}

// read reads a form into a record, as the body of a request.
func (k pageKind) read(ctx context.Context, c route.Call, into field.Record, sent url.Values, mode field.Mode) (route.Call, error) {
	set := into.Fields()
	return web.ReadRecord[any](ctx, c, into, k.questions(set, mode), set, sent, mode, k.check)
}

// takeCreate makes a record, once, and shows what is shown of it only once.
func (s *pages) takeCreate(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	k, err := s.addable(ctx, c)
	if err != nil {
		return nil, err
	}
	made := k.blank()
	isRepeat, location, err := caller.FormOnce(ctx, s.callers, c, sent, func(c route.Call) (err error) {
		if c, err = k.read(ctx, c, made, sent, field.Create); err == nil {
			made, err = k.create(ctx, c, made)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case isRepeat:
		return s.web.Done(k.pageAt(location), "panel_create"), nil
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
	k, err := s.writable(ctx, c)
	if err != nil {
		return nil, err
	}
	find := func() (any, error) {
		found, _, err := k.findOpen(ctx, c)
		return found, err
	}
	found, err := find()
	if err != nil {
		return nil, err
	}
	// What the server has answered meanwhile is found anew; what a user has changed is not overwritten.
	if err := record.Persist(c, found, func(found any) error { return k.changeShown(ctx, c, found, sent) }, find); err != nil {
		return nil, err
	}
	return s.web.Done(k.Page(c.ID("id")), "panel_change"), nil
}

// changeShown changes a record that still is what the form has shown.
func (k pageKind) changeShown(ctx context.Context, c route.Call, found any, sent url.Values) error {
	into := found.(field.Record) //nolint:forcetypeassert // as requests have it
	c, err := web.Unchanged(c, sent, k.questions(into.Fields(), field.Patch))
	if err != nil {
		return err
	}
	c.Subject = found
	if c, err = k.read(ctx, c, into, sent, field.Patch); err != nil {
		return err
	}
	_, err = k.change(ctx, c, found)
	return err
}

// afterwards leads to a record that was made or changed. What the answer of the API shows
// only once is shown first.
func (s *pages) afterwards(ctx context.Context, c route.Call, k pageKind, set field.Set, notice string) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	secrets := k.shownOnce(w, set)
	if len(secrets) == 0 {
		return s.web.Done(k.Page(numberOf(set)), notice), nil
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
				all = append(all, web.Aspect{Name: w.FieldLabel(k.Name, part.Name), Text: part.FormText()})
			}
			continue
		}
		if text := f.FormText(); text != "" {
			all = append(all, web.Aspect{Name: w.FieldLabel(k.Name, f.Name), Text: text})
		}
	}
	return all
}
