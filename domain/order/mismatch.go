package order

import (
	"strings"
)

// differs names everything in which a payment is not the one that the order
// asked for. Amounts are compared as integers, without any tolerance.
func (c Observe) differs(o Order, p Seen) (names []string) {
	for _, check := range []struct {
		name  string
		holds bool
	}{
		{"provider", c.Fetched.Provider == o.Provider},
		{"reference", c.Fetched.Order == o.ID},
		{"session", p.Session == o.Session && o.Session != ""},
		{"amount", p.Minor == o.Minor},
		{"currency", strings.EqualFold(p.Currency, o.Currency)},
		{"payee", c.payee(o) == "" || p.Payee == c.payee(o)},
		{"mode", c.Fetched.Live != o.Test},
	} {
		if !check.holds {
			names = append(names, check.name)
		}
	}
	return names
}
