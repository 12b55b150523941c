package hosting

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// The page of a record: what it is, how far the server is with it, what is part of it, and
// what may be done with it.

const partsShown = 10 // of each kind, on the page of what they are part of

func (s *pages) onePage() web.FormPage {
	page := web.FormPage{
		Show:  s.showRecord,
		Forms: map[string]web.FormHandler{"panel_remove": s.takeRemove, "panel_restore": s.takeRestore},
	}
	for _, k := range s.all() {
		for _, a := range k.acts {
			page.Forms[a.name] = s.takeAct
		}
	}
	return page
}

// found is the record that a path names. Superusers find it in the bin, too.
func (s *pages) found(ctx context.Context, c route.Call, k pageKind) (set field.Set, isBinned bool, err error) {
	found, _, err := k.find(ctx, c)
	if record.IsMissing(err) && k.findInBin != nil && caller.Of(c).IsSuperuser {
		found, _, err = k.findInBin(ctx, c)
		isBinned = true
	}
	if err != nil {
		return nil, false, err
	}
	return k.shown(found).Fields(), isBinned, nil
}

func (s *pages) showRecord(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	k, err := s.readable(ctx, c)
	if err != nil {
		return nil, err
	}
	set, isBinned, err := s.found(ctx, c, k)
	if err != nil {
		return nil, s.unlessElsewhere(ctx, c, k, err)
	}
	language := web.Readers(c)
	w := web.Texts[language]
	values, err := s.values(ctx, c, k, set)
	if err != nil {
		return nil, err
	}
	data := map[string]any{
		"Way": k.way(w, language), "States": k.states(w, set), "Reason": k.reason(language, set), "Facts": values, "Kind": k.Noun(language),
		"IsPending": slices.ContainsFunc(k.states(w, set), func(b web.Badge) bool { return b.Class == w.RecordState("pending").Class }),
		"Path":      c.Path,
		"Edit":      "", "Parts": nil, "Acts": []actForm(nil), "IsBinned": isBinned, "Export": "", "Usage": nil, "UsageTitle": "",
	}
	if data["Past"], err = s.web.HistoryOf(ctx, c, s.lookback, k.stream(c.ID("id"))); err != nil {
		return nil, err
	}
	if isBinned {
		data["Acts"] = []actForm{newActForm(s.web, c, w, web.Form{Name: "panel_restore", Action: c.Path}, back)}
		return s.sheet(ctx, c, back.StatusOf(), "panel_record", k.title(set), data)
	}
	if data["Parts"], err = s.parts(ctx, c, k); err != nil {
		return nil, err
	}
	if fits(k.writers, c) {
		data["Acts"] = s.actForms(c, k, set, back)
		if k.has(hosting.Patch) {
			data["Edit"] = c.Path + "edit/"
		}
	}
	if data["SignIn"], err = s.signIn(ctx, c, k, back); err != nil {
		return nil, err
	}
	if k.more != nil {
		if err := k.more(ctx, c, set, data); err != nil {
			return nil, err
		}
	}
	return s.sheet(ctx, c, back.StatusOf(), "panel_record", k.title(set), data)
}

// reason is why the server or an authority has refused the record; blank: nothing was refused.
func (k pageKind) reason(language string, set field.Set) string {
	for _, name := range []string{"sync_error", "last_error"} {
		if f, has := set.Named(name); has && f.FormText() != "" {
			return web.Translated(language, f.FormText())
		}
	}
	return ""
}

// values are those of a record, in the order of the API's answers.
func (s *pages) values(ctx context.Context, c route.Call, k pageKind, set field.Set) (values []web.Aspect, err error) {
	w := web.Texts[web.Readers(c)]
	sent := k.blank().Fields()
	for _, f := range set {
		own, _ := sent.Named(f.Name)
		switch ref := k.reference(f.Name); {
		case k.IsOffPage(f.Name), f.IsOneTime(), own.IsSecret(), ref.Field != "" && !ref.Leads(),
			k.Owner && f.Name == "is_active": // the state says it
		case ref.Field != "":
			if values, err = s.withReferred(ctx, c, values, w.FieldLabel(k.Name, f.Name), ref, f); err != nil {
				return nil, err
			}
		default:
			one := k.fact(w, f)
			if waits, err := s.lacksCertificate(ctx, c, k, f); err != nil {
				return nil, err
			} else if waits {
				one.Text = w["panel_no_certificate"]
			}
			if one.Text != "" {
				values = append(values, one)
			}
		}
	}
	return values, nil
}

// lacksCertificate tells whether a field says that HTTPS is on, and no certificate has been
// issued yet.
func (s *pages) lacksCertificate(ctx context.Context, c route.Call, k pageKind, f field.Field) (bool, error) {
	child, has := k.Certificates()
	if isOn, _ := f.Value().(bool); !has || !isOn || f.Name != child.Kind.Feature {
		return false, nil
	}
	of := s.kinds.named(child.Kind.Name)
	found, err := of.scopeOf(c).Hosting().OfKind(ctx, of.kind, projections.Listing{Limit: 1, Filters: []projections.Filter{
		{Field: child.By, Op: "=", Value: c.ID("id")}, {Field: "status", Op: "=", Value: "issued"},
	}})
	return found.Count == 0, err
}

func (k pageKind) fact(w web.Words, f field.Field) web.Aspect {
	name := w.FieldLabel(k.Name, f.Name)
	switch at := f.Value().(type) {
	case time.Time:
		return w.Moment(name, &at, "")
	case *time.Time:
		return w.Moment(name, at, "")
	}
	return web.Aspect{Name: name, Text: k.valueText(w, f)}
}

// reference is that of the kind with this name; the zero one: there is none.
func (k pageKind) reference(name string) hosting.Reference {
	i := slices.IndexFunc(k.Refs, func(r hosting.Reference) bool { return r.Field == name })
	if i < 0 {
		return hosting.Reference{}
	}
	return k.Refs[i]
}

// withReferred adds what a reference leads to.
func (s *pages) withReferred(
	ctx context.Context, c route.Call, values []web.Aspect, name string, to hosting.Reference, f field.Field,
) ([]web.Aspect, error) {
	var id int64
	switch v := f.Value().(type) {
	case int64:
		id = v
	case *int64:
		if v == nil {
			return values, nil
		}
		id = *v
	}
	target := s.kinds.named(to.Kind)
	rows, err := target.scopeOf(c).Hosting().Among(ctx, to.Kind, []int64{id})
	if err != nil || len(rows) == 0 {
		return values, err
	}
	return append(values, web.Aspect{Name: name, Text: calledIn(target.kind, rows[0]), Path: target.kind.Page(id)}), nil
}

// calledIn is what a row of a kind is known by.
func calledIn(kind hosting.Kind, row projections.Resource) string {
	spec := kind.New()
	if err := row.Load(spec); err != nil {
		return kind.Label
	}
	return cmp.Or(hosting.TextIn(spec, kind.Called), kind.Label)
}

// parts are the first records of what is part of the record, by kind.
func (s *pages) parts(ctx context.Context, c route.Call, k pageKind) (all []recordList, err error) {
	for _, child := range k.Children() {
		if !child.Kind.HasPages() {
			continue
		}
		of := s.kinds.named(child.Kind.Name).onPages()
		l := projections.Listing{Limit: partsShown, Filters: []projections.Filter{{Field: child.By, Op: "=", Value: c.ID("id")}}}
		shown, err := s.listOf(ctx, c, of, l)
		if err != nil {
			return nil, err
		}
		query := "?" + child.By + "=" + c.Var("id")
		if shown.Add != "" {
			shown.Add += query
		}
		if shown.Count > partsShown {
			shown.All = of.Page(0) + query
		}
		all = append(all, shown)
	}
	return all, nil
}

// takeRemove removes the record, once.
func (s *pages) takeRemove(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	k, err := s.writable(ctx, c)
	if err == nil && !k.has(hosting.Delete) {
		err = route.Missing("Record")
	}
	if err != nil {
		return nil, err
	}
	_, _, err = caller.FormOnce(ctx, s.callers, c, sent, func(c route.Call) error {
		if sent.Get("force") == "true" {
			c.Query = url.Values{"force": {"true"}}
		}
		var err error
		if c.Subject, _, err = k.findOpen(ctx, c); err != nil {
			return err
		}
		return k.remove(ctx, c)
	})
	if err != nil {
		return nil, err
	}
	return s.web.Done(k.Page(0), "panel_remove"), nil
}

// takeRestore brings the record back from the bin.
func (s *pages) takeRestore(ctx context.Context, c route.Call, _ url.Values) (*route.Document, error) {
	k := s.kind(c)
	if k.restore == nil || !caller.Of(c).IsSuperuser {
		return nil, route.NoPermission
	}
	found, _, err := k.findInBin(ctx, c)
	if err != nil {
		return nil, err
	}
	c.Subject = found
	if err := k.restore(ctx, c); err != nil {
		return nil, err
	}
	return s.web.Done(c.Path, "panel_restore"), nil
}
