package paypal

import "context"

// Reach asks for an order that does not exist. PayPal's answer shows that it is
// reached and that the app is let in.
func (p *Provider) Reach(ctx context.Context) error {
	_, err := p.Fetch(ctx, "0NONE00000000000")
	return err
}
