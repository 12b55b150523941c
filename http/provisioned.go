package http

import (
	"context"
	"errors"
	"maps"
	"path"
	"strconv"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route"
)

// provisionRoute makes a site with what goes with it.
func (s *Server) provisionRoute() route.Route {
	sites := s.kind("site")
	r := route.Post(sites.path()+"provision_full/", "Make a site with what goes with it", s.provision).As("site_provision").
		For(s.writing().Requiring(func(ctx context.Context, _ route.Request, c route.Caller) error {
			return sites.open(ctx, identityOf(c))
		})).
		Checking(route.Check(s.checkProvision)).Asking(newProvision).Resuming(s.showProvision).
		Saying("All of it is asked for in one go, or nothing. What is there already stays as it is. Steps that were not asked for are skipped.")
	return r.Answering(func() field.Set { return (&provisioned{Server: s}).Fields() })
}

// provision asks for all pieces that are missing, and gives the engine a moment
// to make them. Where others were faster it looks once more: perhaps they have
// asked for the same.
func (s *Server) provision(ctx context.Context, c route.Call, p *provision) (*provisioned, error) {
	versions, err := s.askFor(ctx, c, p)
	if len(field.ErrorsOf(err)) > 0 {
		var wrong field.Errors
		if err = errors.Join(s.survey(ctx, c, p, &wrong), wrong.Err()); err == nil {
			versions, err = s.askFor(ctx, c, p)
		}
	}
	if err != nil {
		return nil, p.refused(ctx, err)
	}
	if err := s.awaitPieces(ctx, c, p, versions); err != nil {
		return nil, err
	}
	return s.provisioned(ctx, c, p)
}

// askFor asks for all pieces that are missing, in one append.
func (s *Server) askFor(ctx context.Context, c route.Call, p *provision) (domain.Versions, error) {
	site, secrets := p.pieces[0], map[uuid.UUID]string{}
	c.Location(site.pathOf(p.site()))
	var commands []domain.Command
	if !site.isNew {
		commands = append(commands, hosting.Change{Ref: site.ref()}) // to nothing else, so that the call is one if all is there
	}
	for _, one := range p.pieces {
		if !one.isNew {
			continue
		}
		maps.Copy(secrets, one.seal())
		asking, err := one.asking(ctx)
		if err != nil {
			return nil, err
		}
		commands = append(commands, asking...)
	}
	commands, err := site.halting(ctx, c, site.tenant, commands)
	if err != nil {
		return nil, err
	}
	receipt, err := s.Resources.Carry(ctx, c.Cause(), secrets, commands...)
	return receipt.Versions, err
}

// asking asks for the piece, and clears its name.
func (one *piece) asking(ctx context.Context) ([]domain.Command, error) {
	commands, err := one.evicting(ctx, one.wish)
	if err != nil {
		return nil, err
	}
	request, err := one.request(ctx, one.wish)
	return append(commands, request), err
}

// refused says what others were faster with.
func (p *provision) refused(ctx context.Context, err error) error {
	for _, one := range p.pieces {
		if !one.isNew || !isFull(err) {
			continue
		}
		used, most, counted := one.limit(ctx, one.wish)
		if counted != nil {
			return counted
		}
		if most != hosting.Unlimited && used >= most {
			return hosting.LimitReached(one.wish.kind.Counted(), used, most)
		}
	}
	if own := field.ErrorsOf(err); len(own) > 0 && !isFull(err) {
		var wrong field.Errors
		tellOfDomain(own, &wrong)
		return wrong
	}
	return err
}

func (s *Server) awaitPieces(ctx context.Context, c route.Call, p *provision, versions domain.Versions) error {
	if prefersAsync(c.Header.Values("Prefer")) {
		c.Set("Preference-Applied", "respond-async")
		return nil
	}
	var all errgroup.Group
	for _, one := range p.pieces {
		if one.isNew {
			all.Go(func() error { return one.awaitEngine(ctx, c, one.ref(), versions[one.ref().Stream()]) })
		}
	}
	return all.Wait()
}

// provisioned reads what has become of all pieces.
func (s *Server) provisioned(ctx context.Context, c route.Call, p *provision) (*provisioned, error) {
	for _, one := range p.pieces {
		row, err := one.scopeOf(c).Resource(ctx, one.ref())
		if err != nil {
			return nil, err
		}
		if one.wish, err = one.whole(ctx, one.scopeOf(c), row); err != nil {
			return nil, err
		}
	}
	c.ETag(p.pieces[0].tag())
	a := &provisioned{Server: s, provision: p, credentials: p.credentials()}
	if a.credentials != nil {
		c.Set("Cache-Control", "no-store")
	}
	if proxy := p.first("proxy"); proxy != nil {
		a.proxy = &proxyShown{wish: proxy.wish}
	}
	a.steps, a.status = p.outcome()
	return a, nil
}

// showProvision is the answer to a repeated request whose first answer was
// never given: what there is of the site by now.
func (s *Server) showProvision(ctx context.Context, c route.Call, location string) (route.Answer, error) {
	id, err := strconv.ParseInt(path.Base(location), 10, 64)
	if err != nil {
		return nil, route.Missing("Site")
	}
	k := s.kind("site")
	row, err := k.scopeOf(c).Resource(ctx, hosting.Ref{Kind: "site", ID: id})
	if err != nil {
		return nil, err
	}
	var site hosting.Site
	if err := row.Load(&site); err != nil {
		return nil, err
	}
	p := newProvision().(*provision) //nolint:forcetypeassert // it is one
	p.owner.tenant, p.domain, p.ip = row.Tenant, site.Domain, site.IPAddress
	for _, step := range steps {
		*p.asked[step.name] = true
	}
	for _, step := range steps {
		for _, o := range step.demands(p) {
			one, err := s.known(ctx, p, o)
			if err != nil {
				return nil, err
			}
			if one != nil {
				one.step = step.name
				p.pieces = append(p.pieces, one)
			}
		}
	}
	a, err := s.provisioned(ctx, c, p)
	if err != nil {
		return nil, err
	}
	return a.Fields(), nil
}
