package config

import (
	"strconv"
	"strings"
	"time"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/billing"
)

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
