package paneltest

import (
	"hostpanel/domain/tax"
)

// TaxedBy lets a shop of a seller in Spain tax by a mode.
func (s *Shop) TaxedBy(mode tax.Mode) *Shop {
	s.Orders.Tax = tax.Policy{Mode: mode, Home: "ES", Rates: tax.European()}
	return s
}
