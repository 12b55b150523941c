package config

import (
	"cmp"
	"time"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/eventstore/credentials"
)

const (
	day = 24 * time.Hour

	shortestSession, longestSession = 5 * time.Minute, 30 * day
)

// retention is how long rows that are no events are kept (docs/configuration.md,
// "Retention").
func (c *Config) retention(s Settings) error {
	kept := credentials.Defaults
	for _, row := range []struct {
		setting, days string
		least, most   int
		into          *time.Duration
	}{
		{"HOSTPANEL_KEEP_WEBHOOK_BODIES", s.KeepBodies, 1, 3650, &c.Retention.WebhookBodies},
		{"HOSTPANEL_KEEP_ATTEMPTS", s.KeepAttempts, 1, 3650, &c.Retention.Attempts},
		{"HOSTPANEL_KEEP_DELIVERIES", s.KeepDeliveries, 1, 365, &c.Retention.Deliveries},
		{"HOSTPANEL_KEEP_IDEMPOTENCY_KEYS", s.KeepIdempotencyKeys, 1, 90, &c.Retention.IdempotencyKeys},
		{"HOSTPANEL_LOOKS_KEPT", s.LooksKept, 1, 3650, &c.Retention.Looks},
		{"HOSTPANEL_KEEP_LINKS", s.KeepLinks, 1, 365, &kept.KeepLinks},
		{"HOSTPANEL_SESSION_STAY", s.SessionStay, 0, 365, &kept.SessionStay},
	} {
		if err := setDays(row.into, row.setting, row.days, row.least, row.most); err != nil {
			return err
		}
	}
	return c.sessions(s, kept)
}

// sessions are those of browsers.
func (c *Config) sessions(s Settings, kept credentials.Times) error {
	life, err := time.ParseDuration(cmp.Or(s.SessionLife, credentials.Defaults.SessionLife.String()))
	if err != nil || life < shortestSession || life > longestSession {
		return console.Misused("HOSTPANEL_SESSION_LIFE: %q is not a time from 5m to 720h, such as 12h", s.SessionLife)
	}
	idle, err := time.ParseDuration(cmp.Or(s.SessionIdle, min(life, credentials.Defaults.SessionIdle).String()))
	if err != nil || idle < shortestSession || idle > life {
		return console.Misused(
			"HOSTPANEL_SESSION_IDLE: %q is not a time from 5m to that of HOSTPANEL_SESSION_LIFE, such as 30m",
			s.SessionIdle,
		)
	}
	kept.SessionLife, kept.SessionIdle = life, idle
	c.Retention.Credentials = kept
	return nil
}
