package billing

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"hostpanel/domain/hosting"
	"hostpanel/domain/texts"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// pages are what a tenant has bought.
func (s *services) pages() []route.Route {
	return []route.Route{
		web.ViewList(s.listPage(), web.ServicesPath, "What the tenant has bought").As("services_page"),
		web.View(web.ServicesPath+"{id:uuid}/", "A service", s.show).As("service_page").Of("Service"),
	}
}

// listPage is the page of what a tenant has bought. It does not ask what was made.
func (s *services) listPage() web.List[service] {
	return web.List[service]{
		Web: s.web, Name: "services", Fields: (*service).Fields, Before: hasTenant, Cards: serviceCards, Wide: true,
		Read: func(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[service], error) {
			rows, err := s.callers.Scope(c).Billing().Services(ctx, l, s.keepDisputed)
			return record.Map(rows, err, func(row projections.Service) service { return newService(row, nil) }) // it shows none
		},
		Choices: []web.Choice{{Name: "status", Text: "service_state_", Values: projections.ServiceStatuses}},
		More: func(_ route.Call, of *service, card *web.Card) {
			if of.Domain == "" {
				card.Note = []web.Aspect{{Text: of.OrderNumber}}
			}
		},
	}
}

var serviceCards = web.Cards{
	Page: web.ServicesPath, Title: "plan_name", Badges: []string{"status"}, Lines: []string{"kind"}, Note: []string{"domain"},
}

// show is the page of a service: what it costs, what it has made and what it grants.
func (s *services) show(ctx context.Context, c route.Call) (*route.Document, error) {
	w, language := web.Texts[web.Readers(c)], web.Readers(c)
	d, err := s.service(ctx, c)
	if err != nil {
		return nil, err
	}
	invoices, err := invoicesOf(ctx, c, s.callers.Scope(c), d.OrderID)
	if err != nil {
		return nil, err
	}
	var vm []web.Aspect
	var console string
	used := &machineUsage{}
	if d.machine != nil {
		if s.web.AsOf.IsZero() {
			console = web.ServicesPath + d.OrderID.String() + "/" + consolePage
		}
		m, err := s.see(ctx, d.machine)
		if err != nil {
			return nil, err
		}
		vm = m.aspects(w, language)
		if used, err = s.usageOf(ctx, c, d.machine); err != nil {
			return nil, err
		}
	}
	return s.web.Sheet(c, http.StatusOK, "service", "services_title", map[string]any{
		"Title": d.PlanName, "Service": w.Card(serviceCards, d.Fields()),
		"Facts": d.aspects(w), "Machine": vm, "Console": console,
		"Usage": used.bars(w), "UsageTitle": used.usageTitle(w), "Made": d.madeAspects(w),
		"Grants": d.grantAspects(w, language), "Invoices": invoices, "Wide": true,
	})
}

// aspects are those of the order and the subscription.
func (d *serviceDetail) aspects(w web.Words) []web.Aspect {
	all := append(
		[]web.Aspect{{Name: w["service_order"], Text: d.OrderNumber, Path: web.TenantOrdersPath}},
		w.Values(d.Fields(), "created_at", "domain")...,
	)
	if sub := d.subscription; sub != nil {
		all = append(all, web.Aspect{
			Name: w["service_subscription"], Text: w.Money(sub.price, sub.currency) + " · " + w["period_"+sub.cycle],
			Path: web.SubscriptionsPath + sub.id.String() + "/",
		}, w.Moment(w["subscription_until"], &sub.end, ""))
	}
	return all
}

func (d *serviceDetail) madeAspects(w web.Words) (all []web.Aspect) {
	for _, m := range d.made {
		if !m.isMachine {
			all = append(all, web.Aspect{Name: w["service_made_"+m.kind], Text: m.name, Path: m.page})
		}
	}
	return all
}

// grantAspects are what the service lets its tenant have, in words. None of something is
// left out.
func (d *serviceDetail) grantAspects(w web.Words, language string) (all []web.Aspect) {
	if d.machine != nil {
		return nil // its sizes are those of the machine
	}
	for _, g := range d.grants {
		if g.most != 0 {
			all = append(all, web.Aspect{Name: grantName(w, language, g.name), Text: amountOf(w, g.most)})
		}
	}
	if d.whiteLabel {
		all = append(all, web.Aspect{Name: w["service_white_label"], Text: w["service_yes"]})
	}
	return all
}

func amountOf(w web.Words, most int64) string {
	if most == hosting.Unlimited {
		return w["service_unlimited"]
	}
	return strconv.FormatInt(most, 10)
}

// grantName is what a limit is called: as its kind, or by a text of its own.
func grantName(w web.Words, language, limit string) string {
	for _, kind := range hosting.Kinds {
		if kind.Quota == limit && kind.HasPages() {
			return kind.Several(language)
		}
	}
	if name, known := w["service_limit_"+limit]; known {
		return name
	}
	return limit
}

func (m *machine) aspects(w web.Words, language string) []web.Aspect {
	state := web.Aspect{Name: w["service_vm_state"], Text: w["service_vm_"+m.state]}
	if m.seenAt != nil {
		state.Text = texts.Say(language, "page.service_vm_seen", "state", state.Text, "at", w.Moment("", m.seenAt, "").Text)
	}
	size := texts.Say(language, "page.service_vm_size",
		"cores", strconv.FormatInt(m.Cores, 10), "memory", strconv.FormatInt(m.MemoryMB, 10), "disk",
		strconv.FormatInt(m.DiskGB, 10), "traffic", strconv.FormatInt(m.TrafficTB, 10))
	set := m.Fields()
	return slices.Concat(web.Told(state), w.Values(set, "address", "hostname", "os"),
		[]web.Aspect{{Name: w["service_vm_sizes"], Text: size}}, w.Values(set, "recorded_at"))
}
