package config

import (
	"cmp"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/tax"
)

// tax is by whose rates the panel sells (docs/invoices.md, "Tax"). Rates by country need a
// seller in the union, because they follow from where the seller is.
func (c *Config) tax(s Settings) error {
	mode := tax.Mode(cmp.Or(s.Tax, string(tax.Single)))
	c.Policy.Tax.Mode = mode
	rows, err := tax.ParseRows(s.TaxRates)
	if err != nil {
		return console.Misused("HOSTPANEL_TAX_RATES: %v", err)
	}
	territories, err := tax.ParseTerritories(s.Territories)
	switch {
	case err != nil:
		return console.Misused("HOSTPANEL_TAX_TERRITORIES: %v", err)
	case mode == tax.Single:
		if s.TaxRates != "" {
			c.warn("HOSTPANEL_TAX_RATES has no effect while HOSTPANEL_TAX is single")
		}
		if s.Territories != "" {
			c.warn("HOSTPANEL_TAX_TERRITORIES has no effect while HOSTPANEL_TAX is single")
		}
		return nil
	case mode != tax.Seller && mode != tax.OSS:
		return console.Misused("HOSTPANEL_TAX is single, seller or oss, not %q", s.Tax)
	case !tax.IsMember(c.Policy.Seller.Country) || !tax.IsVATID(c.Policy.Seller.Country, c.Policy.Seller.TaxID):
		return console.Misused(
			"HOSTPANEL_TAX: %s needs a HOSTPANEL_SELLER in a member state of the European Union, with its VAT "+
				"identification number as tax_id",
			mode,
		)
	}
	if s.TaxRate != "" {
		c.warn("HOSTPANEL_TAX_RATE has no effect unless HOSTPANEL_TAX is single")
	}
	c.Policy.Tax = tax.Policy{
		Mode: mode, Home: c.Policy.Seller.Country, Rates: tax.European().Overruled(rows),
		Territories: tax.EuropeanTerritories().Overruled(territories),
	}
	if seller := c.Policy.Seller; !c.Policy.Tax.IsHome(seller.Country, seller.PostalCode) {
		return console.Misused(
			"HOSTPANEL_TAX: %s needs a seller in the VAT of the European Union; HOSTPANEL_SELLER is in a territory outside of it. "+
				"Set HOSTPANEL_TAX=single with the rate there", mode,
		)
	}
	return nil
}
