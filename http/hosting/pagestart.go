package hosting

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// The first page of the customer area: what runs, how much of it there may be, what ends
// soon, what was refused, and what the user was told last.

const (
	expiring  = 30 * day // that a certificate is valid for, to be named
	mostNamed = 5        // of each list
	day       = 24 * time.Hour
)

// A kindCard is a kind with the number of its records, by state.
type kindCard struct {
	Path, Name string
	Count      int64
	States     []web.Badge // but not of those that are ready
}

// A usageBar is how much of something there is, and may be; without a limit there is no bar.
type usageBar struct {
	Name, Text string
	Used, Most int64
}

func (s *pages) showStart(ctx context.Context, c route.Call) (*route.Document, error) {
	if actsFor(c) == 0 {
		return nil, route.SeeOther(web.TenantsPath)
	}
	w := web.Texts[web.Readers(c)]
	data := map[string]any{"Export": exportOf(c, actsFor(c))}
	for _, part := range []struct {
		name string
		read func(context.Context, route.Call) (any, error)
	}{
		{"Kinds", s.kindCards}, {"Usage", s.usageBars}, {"Expiring", s.expiring}, {"Refused", s.refused}, {"News", s.news},
	} {
		found, err := part.read(ctx, c)
		if err != nil {
			return nil, err
		}
		data[part.name] = found
	}
	return s.sheet(ctx, c, http.StatusOK, "panel_start", w["panel_title"], data)
}

// kindCards begin with the services that were bought.
func (s *pages) kindCards(ctx context.Context, c route.Call) (any, error) {
	bought, err := s.callers.Scope(c).Billing().Services(ctx, projections.Listing{Limit: 1}, false)
	if err != nil {
		return nil, err
	}
	cards, err := s.kindCardsOf(ctx, c, actsFor(c))
	own := kindCard{Path: web.ServicesPath, Name: web.Texts[web.Readers(c)]["services_title"], Count: bought.Count}
	return append([]kindCard{own}, cards...), err
}

// kindCardsOf are what a tenant has of each kind.
func (s *pages) kindCardsOf(ctx context.Context, c route.Call, tenant int64) ([]kindCard, error) {
	counts, err := s.callers.Scope(c).Hosting().StateCounts(ctx, tenant)
	w, language := web.Texts[web.Readers(c)], web.Readers(c)
	var cards []kindCard
	for _, k := range s.all() {
		isOpen, failed := k.isOpenTo(ctx, c, tenant)
		if failed != nil {
			return nil, failed
		}
		if !isOpen {
			continue
		}
		card := kindCard{Path: k.Page(0), Name: k.Several(language)}
		for _, n := range counts {
			if n.Kind != k.Name {
				continue
			}
			card.Count += n.N
			if n.SyncStatus != "synced" {
				state := w.RecordState(n.SyncStatus)
				state.Text += ": " + strconv.FormatInt(n.N, 10)
				card.States = append(card.States, state)
			}
		}
		if k.count != nil && err == nil {
			card.Count, err = k.count(ctx, c, tenant)
		}
		cards = append(cards, card)
	}
	return cards, err
}

// usageBars are the figures of the API.
func (s *pages) usageBars(ctx context.Context, c route.Call) (any, error) {
	t := s.tenants
	row, err := s.callers.Scope(c).Hosting().Tenant(ctx, actsFor(c))
	if err != nil {
		return nil, err
	}
	w, err := t.collection.whole(ctx, t.callers.System(), row)
	if err != nil {
		return nil, err
	}
	return s.tenants.usageBarsOf(ctx, c, w)
}

// usageBarsOf are the figures of a tenant.
func (s *tenants) usageBarsOf(ctx context.Context, c route.Call, of *resource) ([]usageBar, error) {
	c.Subject = of
	stats, err := s.stats(ctx, c)
	if err != nil {
		return nil, err
	}
	w, language := web.Texts[web.Readers(c)], web.Readers(c)
	var bars []usageBar
	for _, name := range append(slices.Clone(measured), hosting.HostingAccounts) {
		if of := stats.shares[name]; of != nil {
			bars = append(bars, of.bar(w, measuredName(w, language, name)))
		}
	}
	return bars, nil
}

// bar is the share in words, with its name.
func (s *share) bar(w web.Words, name string) usageBar {
	used := strconv.FormatInt(s.used, 10)
	switch {
	case s.limit == nil:
		return usageBar{Name: name, Used: s.used, Text: used + " " + w["panel_unlimited"]}
	case *s.limit == 0 && s.used == 0:
		return usageBar{Name: name, Text: w["panel_no_room"]}
	}
	return usageBar{Name: name, Used: s.used, Most: *s.limit, Text: used + " " + w["panel_of"] + " " + strconv.FormatInt(*s.limit, 10)}
}

// measuredName is what is measured, in words: all records of a kind, or a text.
func measuredName(w web.Words, language, name string) string {
	i := slices.IndexFunc(hosting.Kinds, func(k hosting.Kind) bool { return k.Quota == name && k.HasPages() })
	if i < 0 {
		return w["measured_"+name]
	}
	return hosting.Kinds[i].Several(language)
}

// expiring are the certificates that end soon.
func (s *pages) expiring(ctx context.Context, c route.Call) (any, error) {
	w := web.Texts[web.Readers(c)]
	var rows []web.Card
	for _, k := range s.all() {
		if !k.Issued || !fits(k.readers, c) {
			continue
		}
		found, err := k.list(ctx, c, ofTenant(c, projections.Listing{Limit: mostNamed, Filters: []projections.Filter{
			{Field: "expires_at", Op: "<=", Value: s.callers.Now().Add(expiring)},
		}}))
		if err != nil {
			return nil, err
		}
		for _, r := range found.Rows {
			row := k.row(w, r.Fields())
			if f, has := r.Fields().Named("expires_at"); has {
				ends := k.fact(w, f)
				row.Note = []web.Aspect{ends}
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// refused are the records that the server, or an authority, has refused.
func (s *pages) refused(ctx context.Context, c route.Call) (any, error) {
	language := web.Readers(c)
	found, err := s.callers.Scope(c).Hosting().Refused(ctx, actsFor(c), mostNamed)
	var rows []web.Card
	for _, r := range found {
		kind, _ := hosting.KindNamed(r.Kind)
		if err != nil || !kind.HasPages() {
			continue
		}
		k := s.kinds.named(r.Kind)
		var w *resource
		if w, err = k.load(r); err != nil {
			return nil, err
		}
		p, set := k.onPages(), (&hosted{resource: w, now: s.callers.Now()}).Fields()
		row := p.row(web.Texts[language], set)
		row.Note = web.Notes(kind.Noun(language), p.reason(language, set))
		rows = append(rows, row)
	}
	return rows, err
}

// news are the latest notifications of the user.
func (s *pages) news(ctx context.Context, c route.Call) (any, error) {
	found, err := s.callers.Scope(c).Notices().Notifications(ctx, projections.Listing{Limit: mostNamed})
	w, cards := web.Texts[web.Readers(c)], make([]web.Card, len(found.Rows))
	for i, n := range found.Rows {
		cards[i] = web.Card{Path: n.URL, Title: n.Title, Lines: []string{n.Message}, Note: []web.Aspect{w.Moment("", &n.CreatedAt, "")}}
		if !n.IsRead {
			cards[i].Badges = []web.Badge{{Class: "provisioning", Text: w["panel_unread"]}}
		}
	}
	return cards, err
}
