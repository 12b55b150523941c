package hosting

import (
	"context"
	"path"
	"strconv"

	"golang.org/x/sync/errgroup"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// provisionRoute makes a site with what goes with it.
func (s *sites) provisionRoute() route.Route {
	sites := s.kinds.named("site")
	r := route.Post(sites.path()+"provision_full/", "Make a site with what goes with it", s.provision).As("site_provision").
		For(s.callers.Writing()).Barring(sites.barSuspended).Tagged().
		Checking(route.Check(s.checkProvision)).Asking(newProvision).Resuming(s.showProvision).
		Saying(
			"All of it is asked for in one go, or nothing. What is there already stays as it is. Steps that were not " +
				"asked for are skipped.",
		)
	return r.Answering(func() field.Set { return (&siteAnswer{kinds: s.kinds}).Fields() })
}

func (s *sites) checkProvision(ctx context.Context, c route.Call, p *provision, wrong *field.Errors) error {
	p.Owner.Sent = c.Sent
	return s.service.PrepareSite(ctx, caller.Of(c).Reader(), p.order(), wrong)
}

// provision asks for all pieces that are missing, and gives the engine a moment
// to make them.
func (s *sites) provision(ctx context.Context, c route.Call, p *provision) (*siteAnswer, error) {
	versions, err := s.service.ProvisionFull(ctx, c.CauseOf, caller.Of(c).Reader(), &p.SiteOrder, s.kinds.named("site").located(c))
	if err != nil {
		return nil, err
	}
	if err := s.awaitPieces(ctx, c, p, versions); err != nil {
		return nil, err
	}
	return s.answer(ctx, c, p)
}

func (s *sites) awaitPieces(ctx context.Context, c route.Call, p *provision, versions domain.Versions) error {
	if prefersAsync(c.Header.Values("Prefer")) {
		c.Set("Preference-Applied", "respond-async")
		return nil
	}
	var all errgroup.Group
	for _, one := range p.Pieces {
		if one.Missing {
			k := s.kinds.of(one.Kind)
			all.Go(func() error { return k.awaitEngine(ctx, c, one.Ref(), versions[one.Ref().Stream()]) })
		}
	}
	return all.Wait()
}

// provisioned reads what has become of all pieces.
func (s *sites) answer(ctx context.Context, c route.Call, p *provision) (*siteAnswer, error) {
	p.pieces = nil
	for _, one := range p.Pieces {
		k := s.kinds.of(one.Kind)
		row, err := k.scopeOf(c).Hosting().Resource(ctx, one.Ref())
		if err != nil {
			return nil, err
		}
		w, err := k.whole(ctx, k.scopeOf(c), row)
		if err != nil {
			return nil, err
		}
		p.pieces = append(p.pieces, &piece{w, one.Step, one.Password})
	}
	c.ETag(p.pieces[0].Tag())
	a := &siteAnswer{kinds: s.kinds, provision: p, credentials: p.credentials()}
	if a.credentials != nil {
		c.Set("Cache-Control", "no-store")
	}
	if proxy := p.first("proxy"); proxy != nil {
		a.proxy = &proxyShown{resource: proxy.resource}
	}
	a.steps, a.status = p.outcome()
	return a, nil
}

// showProvision is the answer to a repeated request whose first answer was
// never given: what there is of the site by now.
func (s *sites) showProvision(ctx context.Context, c route.Call, location string) (route.Answer, error) {
	id, err := strconv.ParseInt(path.Base(location), 10, 64)
	if err != nil {
		return nil, route.Missing("Site")
	}
	row, err := s.kinds.named("site").scopeOf(c).Hosting().Resource(ctx, hosting.Ref{Kind: "site", ID: id})
	if err != nil {
		return nil, err
	}
	var site hosting.Site
	if err := row.Load(&site); err != nil {
		return nil, err
	}
	p := newProvision().(*provision) //nolint:forcetypeassert // it is one
	p.Owner.Tenant, p.Domain, p.IP = row.Tenant, site.Domain, site.IPAddress
	for _, asked := range p.asked {
		*asked = true
	}
	if err := s.service.KnownPieces(ctx, p.order()); err != nil {
		return nil, err
	}
	a, err := s.answer(ctx, c, p)
	if err != nil {
		return nil, err
	}
	return a.Fields(), nil
}
