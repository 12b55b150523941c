package hosting

import (
	"cmp"
	"context"
	"net/http"
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

// A recordList is what a list shows, on a page of its own or on that of a parent.
type recordList struct {
	Name, Heading string
	Rows          []web.Card
	Count         int64
	All, Add      string // paths; blank: none
	Room          string // how many there are and may be; blank: it is not told
	Obstacle      obstacle
}

func actsFor(c route.Call) int64 { return caller.Of(c).Tenant() }

// ofTenant narrows a list to the tenant for which the caller acts. Others than superusers
// see no other anyway.
func ofTenant(c route.Call, l projections.Listing) projections.Listing {
	return narrowed(c, l, actsFor(c))
}

// narrowed is a list of what a tenant has; 0: any tenant.
func narrowed(c route.Call, l projections.Listing, tenant int64) projections.Listing {
	if caller.Of(c).IsSuperuser && tenant != 0 {
		l.Filters = append(l.Filters, projections.Filter{Field: "tenant", Op: "=", Value: tenant})
	}
	return l
}

func (s *pages) showList(ctx context.Context, c route.Call) (*route.Document, error) {
	k, err := s.readable(ctx, c)
	if err != nil {
		return nil, err
	}
	language, number := web.Readers(c), web.PageNumber(c)
	w, bar := web.Texts[language], &web.Bar{Action: c.Path}
	l := projections.Listing{Search: bar.Searched(c, w["panel_search"]), Offset: (number - 1) * web.PageSize, Limit: web.PageSize}
	l.Filters = k.asked(c)
	shown, err := s.listOf(ctx, c, k, l)
	if err == nil && k.room != nil {
		shown.Room, err = k.room(ctx, c)
	}
	if err == nil && shown.Add != "" {
		shown.Obstacle, err = s.obstacleTo(ctx, c, k)
	}
	if err != nil {
		return nil, err
	}
	return s.sheet(ctx, c, http.StatusOK, "panel_list", k.Several(language), web.Paged(c, bar, shown.Count, map[string]any{
		"Way": k.way(w, language)[:1], "List": shown,
	}))
}

// asked are the references by which the query narrows the list: ?zone=3.
func (k pageKind) asked(c route.Call) (filters []projections.Filter) {
	for _, r := range k.Refs {
		if id, err := strconv.ParseInt(c.Param(r.Field), 10, 64); err == nil && slices.Contains(k.Filters, r.Field) {
			filters = append(filters, projections.Filter{Field: r.Field, Op: "=", Value: id})
		}
	}
	return filters
}

// listOf are records of a kind for a list.
func (s *pages) listOf(ctx context.Context, c route.Call, k pageKind, l projections.Listing) (recordList, error) {
	language := web.Readers(c)
	w := web.Texts[language]
	shown := recordList{Name: k.Collection, Heading: k.Several(language)}
	if k.has(hosting.Create) && fits(k.writers, c) {
		shown.Add = k.Page(0) + "new/"
	}
	found, err := k.list(ctx, c, ofTenant(c, l))
	shown.Count = found.Count
	for _, r := range found.Rows {
		row := k.row(w, r.Fields())
		if k.tells != nil && err == nil {
			var told []string
			told, err = k.tells(ctx, c, r)
			row.Note = web.Notes(told...)
		}
		shown.Rows = append(shown.Rows, row)
	}
	return shown, err
}

func (k pageKind) row(w web.Words, set field.Set) web.Card {
	return web.Card{Path: k.Page(numberOf(set)), Title: k.title(set), Badges: k.states(w, set), Note: web.Notes(k.telling(w, set)...)}
}

// states are how far the server is with a record, and whether it is switched off.
func (k pageKind) states(w web.Words, set field.Set) (all []web.Badge) {
	names := []string{"sync_status", "status"}
	if k.Owner && !isIn("sync_status", "pending")(set) {
		names = []string{"status"}
	}
	for _, name := range names {
		if f, has := set.Named(name); has {
			all = append(all, w.RecordState(f.FormText()))
			break
		}
	}
	if f, has := set.Named("is_active"); has && f.FormText() == "false" {
		all = append(all, web.Badge{Class: "", Text: w["state_off"]})
	}
	return all
}

const mostTelling = 3 // values in a row of a list

// telling are the first values that a user has set, besides the name of the record.
func (k pageKind) telling(w web.Words, set field.Set) (texts []string) {
	title := k.title(set)
	for _, f := range k.blank().Fields() {
		shown, has := set.Named(f.Name)
		if !has || f.IsReadOnly() || f.IsSecret() || f.IsReference() || f.HasLines() &&
			!slices.Contains(k.Search, f.Name) || len(texts) == mostTelling {
			continue
		}
		if _, is := shown.Value().(bool); is {
			continue
		}
		if text := k.valueText(w, shown); text != "" && text != title {
			texts = append(texts, text)
		}
	}
	return texts
}

// valueText is a value in words; blank: there is none.
func (k pageKind) valueText(w web.Words, f field.Field) string {
	text := f.FormText()
	switch all := f.Value().(type) {
	case bool:
		return w["is_"+text]
	case []string:
		var said []string
		for _, one := range all {
			said = append(said, cmp.Or(w["choice_"+f.Name+"_"+one], one))
		}
		return strings.Join(said, ", ")
	case int64, *int64:
		if text == strconv.Itoa(hosting.Unlimited) {
			return w["panel_no_limit"]
		}
	}
	named := w["choice_"+f.Name+"_"+text]
	if f.Name == "language" {
		named = w["language_"+text]
	}
	return cmp.Or(named, text)
}
