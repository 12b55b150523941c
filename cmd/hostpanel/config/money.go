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
	if given := c.Policy.TaxRate; err != nil || given.IsNegative() || given.GreaterThan(decimal.NewFromInt(100)) || !given.Equal(given.Round(2)) {
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
		if d.given == "" {
			continue
		}
		days, err := strconv.Atoi(d.given)
		if err != nil || days < d.least || days > d.most {
			return console.Misused("%s: %q is not a number of days from %d to %d", d.name, d.given, d.least, d.most)
		}
		*d.into = time.Duration(days) * day
	}
	if s.ReminderDays != "" {
		terms.Reminders = nil
		for _, text := range strings.Split(s.ReminderDays, ",") {
			days, err := strconv.Atoi(strings.TrimSpace(text))
			at := time.Duration(days) * day
			if err != nil || days < -60 || days > 365 || len(terms.Reminders) > 0 && at <= terms.Reminders[len(terms.Reminders)-1] {
				return console.Misused("HOSTPANEL_REMINDER_DAYS: %q is not a rising list of days from -60 to 365, such as -2,3,7", s.ReminderDays)
			}
			terms.Reminders = append(terms.Reminders, at)
		}
	}
	terms.Warning = min(terms.Warning, terms.Keep/2)
	c.Policy.Terms = terms
	return nil
}
