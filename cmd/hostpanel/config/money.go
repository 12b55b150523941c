package config

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/billing"
)

// money is the currency and tax of plans, who sells, and when renewals are asked for.
func (c *Config) money(s Settings) (err error) {
	c.Currency = cmp.Or(s.Currency, "EUR")
	if !currencies.MatchString(c.Currency) {
		return console.Misused("HOSTPANEL_CURRENCY: %q is not three capitals such as EUR", c.Currency)
	}
	rate := "0.00"
	if c.Demo {
		rate = "21.00"
	}
	rate = cmp.Or(s.TaxRate, rate)
	c.Policy.TaxRate, err = decimal.NewFromString(rate)
	if given := c.Policy.TaxRate; err != nil || given.IsNegative() || given.GreaterThan(decimal.NewFromInt(100)) ||
		!given.Equal(given.Round(2)) {
		return console.Misused("HOSTPANEL_TAX_RATE: %q is not a percentage such as 21.00", rate)
	}
	if err := c.seller(s); err != nil {
		return err
	}
	if err := c.tax(s); err != nil {
		return err
	}
	return c.terms(s)
}

// terms are those of renewals (docs/invoices.md, "Renewals").
func (c *Config) terms(s Settings) error {
	terms := billing.UsualTerms
	for _, d := range []struct {
		name, given string
		least, most int
		into        *time.Duration
	}{
		{"HOSTPANEL_INVOICE_DAYS", s.InvoiceDays, 0, 60, &terms.Lead},
		{"HOSTPANEL_SUSPEND_DAYS", s.SuspendDays, 1, 365, &terms.Grace},
		{"HOSTPANEL_END_DAYS", s.EndDays, 1, 365, &terms.Keep},
	} {
		if err := setDays(d.into, d.name, d.given, d.least, d.most); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		days        *[]time.Duration
		name, text  string
		least, most int
	}{
		{&terms.Reminders, "HOSTPANEL_REMINDER_DAYS", s.ReminderDays, -60, 365},
		{&terms.Retries, "HOSTPANEL_CHARGE_DAYS", s.ChargeDays, 1, 30},
	} {
		if list.text == "" {
			continue
		}
		var err error
		if *list.days, err = risingDays(list.name, list.text, list.least, list.most); err != nil {
			return err
		}
	}
	if len(terms.Retries) > mostCharges {
		return console.Misused("HOSTPANEL_CHARGE_DAYS has at most %d days: card networks forbid more charges of one invoice", mostCharges)
	}
	terms.Warning = min(terms.Warning, terms.Keep/2)
	c.Policy.Terms = terms
	return nil
}

// mostCharges is how often a refused charge is tried again. Card networks allow fifteen
// tries in thirty days.
const mostCharges = 14

// risingDays reads days such as -2,3,7.
func risingDays(name, text string, least, most int) (all []time.Duration, err error) {
	for _, one := range strings.Split(text, ",") {
		days, err := strconv.Atoi(strings.TrimSpace(one))
		at := time.Duration(days) * day
		if err != nil || days < least || days > most || len(all) > 0 && at <= all[len(all)-1] {
			return nil, console.Misused("%s: %q is not a rising list of days from %d to %d, such as 3,7", name, text, least, most)
		}
		all = append(all, at)
	}
	return all, nil
}
