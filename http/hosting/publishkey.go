package hosting

import (
	"context"
	"net/http"

	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// publishRoutes bring the keys of records into the tenant's own DNS zone
// (docs/hosting.md, "Keys that sign mails").
func (s *Area) publishRoutes() (all []route.Route) {
	for _, kind := range hosting.Kinds {
		if kind.KeyIn != "" {
			all = append(all, publishRoute(s.kinds.named(kind.Name), s.kinds.named(kind.KeyIn)))
		}
	}
	return all
}

func publishRoute(mail, records *collection) route.Route {
	publish := func(ctx context.Context, c route.Call, _ *route.Nothing) (*hosted, error) {
		return mail.publish(ctx, c, records)
	}
	r := records.shaped(
		route.Post(mail.path()+"{id:int}/publish_dkim/", "Add the DKIM record of a "+mail.kind.Label+" to the tenant's DNS zone", publish),
	)
	return r.As(mail.kind.Name+"_publish_dkim").Of(mail.kind.Class).With(http.StatusOK).For(mail.writers()).Finding(mail.findOpen).
		Saying(
			"The answer is the TXT record. A record with an older key under the same selector is replaced; one that "+
				"is right stays as it is.",
		).
		Failing(
			http.StatusConflict,
			"Mails of the domain are not signed (dkim_disabled), or the tenant has no zone of it here (zone_missing).",
		)
}

// publish brings the record of the key among the records of the tenant's zone.
func (k *collection) publish(ctx context.Context, c route.Call, records *collection) (*hosted, error) {
	w := c.Subject.(*resource) //nolint:forcetypeassert // found by findOpen
	d, receipt, err := k.service.PublishKey(ctx, c.CauseOf, caller.Of(c).Reader(), w.Draft)
	if err != nil {
		return nil, err
	}
	return records.changed(ctx, c, &resource{Draft: d}, receipt, nil)
}
