package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/billing"
)

// seller is who sells, as invoices name them (docs/orders.md, "Invoices"). A demo has one.
func (c *Config) seller(s Settings) error {
	given := s.Seller
	if c.Demo {
		given = cmp.Or(given, demoSeller)
	}
	if given == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(given))
	d.DisallowUnknownFields()
	err := d.Decode(&c.Policy.Seller)
	if _, end := d.Token(); err == nil && !errors.Is(end, io.EOF) {
		err = errors.New("there is more behind the object")
	}
	if err != nil {
		return console.Misused(
			"HOSTPANEL_SELLER is not a JSON object of texts with the fields name, address, city, postal_code, "+
				"country, tax_id, register, iban, bic and exemption: %v",
			err,
		)
	}
	if wrong := c.Policy.Seller.Check(); wrong != nil {
		return console.Misused("HOSTPANEL_SELLER: %v", wrong)
	}
	return nil
}

const demoSeller = `{"name": "Demo Hosting", "address": "Calle Mayor 1", "city": "Madrid", "postal_code": "28013", ` +
	`"country": "ES", "tax_id": "ESB00000000"}`

// sellerText is a seller as the setting has it; blank: there is none.
func sellerText(s billing.Seller) string {
	if s == (billing.Seller{}) {
		return ""
	}
	text, _ := json.Marshal(s)
	return string(text)
}
