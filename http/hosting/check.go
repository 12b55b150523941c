package hosting

import (
	"context"

	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// check completes a request and says what else is wrong with it.
func (k *collection) check(ctx context.Context, c route.Call, w *resource, wrong *field.Errors) error {
	w.Sent = c.Sent
	return k.service.Prepare(ctx, caller.Of(c).Reader(), w.Draft, wrong)
}
