package assembly

import (
	"fmt"

	"hostpanel/domain"
)

// paymentQueue is where calls to one payment provider wait for their turn.
func paymentQueue(provider string) string { return "payments:" + provider }

// provider is the one with this name.
func (s *Panel) provider(name string) (Payments, error) {
	p, ok := s.payments[name]
	if !ok {
		return nil, domain.Fail(domain.Transient, "provider_not_configured", fmt.Errorf("no provider %s", name))
	}
	return p, nil
}
