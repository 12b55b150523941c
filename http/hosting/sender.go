package hosting

import (
	"context"
	"net/http"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// The proof that a tenant may send mails from its own address
// (docs/white-label.md, "Mails").

// A sender is the address that mails of a tenant are to come from.
type sender struct{ hosting.WhiteLabel }

// Fields are the answer.
func (s *sender) Fields() field.Set {
	name, proven := s.AddressDomain(), s.IsProven()
	return field.Set{
		field.Text("email_from_address", &s.EmailFromEmail).ReadOnly(),
		field.Text("domain", &name).ReadOnly().Doc("Where the record is to stand: the domain of the address."),
		field.Text("record", &s.SenderRecord).ReadOnly().Doc("The text of the TXT record that proves the domain."),
		field.Flag("is_proven", &proven).ReadOnly().Doc("The record has been seen: mails may come from the address."),
	}
}

func (s *Area) senderRoutes() []route.Route {
	brands := s.kinds.named("whitelabel")
	one := brands.path() + "{id:int}/sender/"
	return []route.Route{
		route.Get(one, "Whether mails may come from the tenant's own address", brands.showSender).
			As("whitelabel_sender").Of(brands.kind.Class).For(brands.readers()).Finding(brands.find),
		route.Post(one, "Look for the record that proves the domain of the address", brands.proveSender).
			As("whitelabel_prove_sender").Of(brands.kind.Class).With(http.StatusOK).For(brands.writers()).Finding(brands.findOpen).
			Saying("The record was seen once: it may be removed afterwards. Another domain needs its own proof.").
			Failing(http.StatusServiceUnavailable, "The name servers of the domain did not answer."),
	}
}

func (k *collection) showSender(_ context.Context, c route.Call) (*sender, error) {
	return &sender{*brandOf(c)}, nil
}

func (k *collection) proveSender(ctx context.Context, c route.Call, _ *route.Nothing) (*sender, error) {
	w, look := c.Subject.(*resource), brandOf(c) //nolint:forcetypeassert // found by findOpen
	if look.IsProven() {
		return &sender{*look}, nil
	}
	receipt, err := k.service.ProveSender(ctx, c.CauseOf, caller.Of(c).Reader(), w.Draft, look)
	if _, err := k.changed(ctx, c, w, receipt, err); err != nil {
		return nil, err
	}
	return &sender{*look}, nil
}

// brandOf is the configuration that a call is about.
func brandOf(c route.Call) *hosting.WhiteLabel {
	w := c.Subject.(*resource)          //nolint:forcetypeassert // found by find
	return w.Spec.(*hosting.WhiteLabel) //nolint:forcetypeassert // of this kind
}
