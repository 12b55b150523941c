// Package listing reads which part of a list a call asks for: filters, search,
// order and page (docs/api.md, "Lists").
package listing

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/field"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// A Spec is what callers may ask of a list: by which fields it is filtered and
// ordered, and whether it can be searched. Every list can be filtered by its
// ids and times, and ordered by them (docs/api.md, "Lists").
type Spec struct {
	// Filters describes filters in the manner of a record. A field's name is
	// that of the read table's; "created_at__gte" is a range, "id__in" a set.
	Filters  func() field.Set
	Search   string   // what is searched, for the API document; "": nothing
	Ordering []string // besides id, created_at and updated_at
	TextIDs  bool     // the ids are no numbers
	UUIDs    bool     // they are UUIDs
}

// Pages declares a list in pages, from a query of the read tables that takes
// what the caller asks for.
func Pages[A any, PA interface {
	*A
	field.Record
}](path, summary string, a Spec, rows func(context.Context, route.Call, projections.Listing) (projections.Listed[A], error)) route.Route {
	return a.Document(route.Pages[A, PA](path, summary, Listing[A, PA](a, rows)))
}

// Listing reads the part of a list that a call asks for.
func Listing[A any, PA interface {
	*A
	field.Record
}](a Spec, rows func(context.Context, route.Call, projections.Listing) (projections.Listed[A], error)) func(
	context.Context, route.Call, route.Window,
) (route.Page[A], error) {
	return func(ctx context.Context, c route.Call, w route.Window) (route.Page[A], error) {
		listing, err := a.listing(c, w)
		if err != nil {
			return route.Page[A]{}, err
		}
		found, err := rows(ctx, c, listing)
		page := route.Page[A]{Count: found.Count, Results: found.Rows, Last: w.Last}
		if len(listing.Order) == 0 && !a.TextIDs {
			page.Mark = func(row A) string {
				id, _ := PA(&row).Fields().Named("id")
				return id.FormText()
			}
		}
		return page, err
	}
}

// mark is the record beside which the page begins; without one, or with one that is
// no id, the page is found by its number.
func (a Spec) mark(w route.Window) projections.Mark {
	m := projections.Mark{Before: w.After == ""}
	text := cmp.Or(w.After, w.Before)
	switch {
	case text == "", a.TextIDs: // such lists are short
		return m
	case a.UUIDs:
		if id, err := uuid.Parse(text); err == nil {
			m.ID = id
		}
		return m
	}
	if id, err := strconv.ParseInt(text, 10, 64); err == nil {
		m.ID = id
	}
	return m
}

// Document names the parameters in the API document.
func (a Spec) Document(r route.Route) route.Route {
	taken := a.filters()
	if a.Search != "" {
		taken = append(taken, field.Text("search", new(string)).Doc("Terms that have to be found in "+a.Search+"."))
	}
	names := append([]string{"id", "created_at", "updated_at"}, a.Ordering...)
	return r.Taking(
		append(
			taken,
			field.Text("ordering", new(string)).Doc("What to order by, with - in front for descending: "+strings.Join(names, ", ")+"."),
		)...,
	)
}

// filters are those of the list and those that all lists have, each with a
// place for what is sent.
func (a Spec) filters() field.Set {
	var set field.Set
	if a.Filters != nil {
		set = a.Filters()
	}
	ids := field.Refs("id__in", new([]int64))
	switch {
	case a.TextIDs:
		ids = field.Texts("id__in", new([]string), nil)
	case a.UUIDs:
		ids = field.UUIDs("id__in", new([]uuid.UUID))
	}
	set = append(set, ids.Doc("Only these ids, parted by commas."))
	for _, name := range []string{"created_at", "updated_at"} {
		set = append(set, Ranges(name)...)
	}
	return set
}

// Ranges are the filters by a moment.
func Ranges(name string) (set field.Set) {
	for _, o := range operators {
		if o.about != "" {
			set = append(set, field.Time(name+o.suffix, new(time.Time)).Doc("Only those "+o.about+"."))
		}
	}
	return set
}

// operators are what the end of a filter's name means.
var operators = []struct{ suffix, sign, about string }{
	{"__gte", ">=", "of this moment or later"},
	{"__lte", "<=", "of this moment or earlier"},
	{"__gt", ">", "later than this moment"},
	{"__lt", "<", "earlier than this moment"},
	{"__in", "in", ""},
}

// listing is what the call asks of the list, newest first unless it says
// otherwise.
func (a Spec) listing(c route.Call, w route.Window) (projections.Listing, error) {
	l := projections.Listing{Offset: w.Offset, Limit: w.Limit, Mark: a.mark(w)}
	if w.Last {
		l.Offset = projections.LastPage
	}
	if len(c.Query) == 0 {
		return l, nil
	}
	given, err := c.Filter(a.filters())
	if err != nil {
		return projections.Listing{}, err
	}
	for _, f := range given {
		l.Filters = append(l.Filters, filter(f))
	}
	if a.Search != "" {
		if l.Search, err = c.Search(); err != nil {
			return projections.Listing{}, err
		}
	}
	for _, by := range c.Ordering(a.Ordering...) {
		l.Order = append(l.Order, projections.Ordering{Field: by.Field, Descending: by.Descending})
	}
	return l, nil
}

func filter(f field.Field) projections.Filter {
	for _, o := range operators {
		if name, is := strings.CutSuffix(f.Name, o.suffix); is {
			return projections.Filter{Field: name, Op: o.sign, Value: f.Value()}
		}
	}
	return projections.Filter{Field: f.Name, Op: "=", Value: f.Value()}
}
