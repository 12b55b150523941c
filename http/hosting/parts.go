package hosting

import (
	"context"
	"strings"

	"hostpanel/domain/hosting"
	"hostpanel/http/listing"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// within is the list of all parts of one record, such as the records of a zone,
// in the order in which they were made.
func (k *collection) within(part hosting.Child) route.Route {
	parts := k.of(part.Kind)
	list := func(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[hosted], error) {
		whole := c.Subject.(*resource) //nolint:forcetypeassert // found by find
		l.Filters = append(l.Filters, projections.Filter{Field: part.By, Op: "=", Value: whole.row.ID})
		return parts.list(ctx, c, l)
	}
	r := parts.listSpec().Document(route.ListOrPages[hosted](k.path()+"{id:int}/"+part.Kind.Within+"/", "All "+strings.ReplaceAll(
		part.Kind.Collection, "-", " ",
	)+" of one "+k.kind.Label,
		part.Kind.Most, listing.Listing(parts.listSpec(), list)))
	return parts.shaped(r).As(k.kind.Name + "_" + part.Kind.Within).Of(k.kind.Class).Finding(k.find).
		Saying("A plain array. With page or page_size it comes in pages.")
}
