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
	links := credentials.Defaults.KeepLinks
	for _, kept := range []struct {
		setting, days string
		most          int
		into          *time.Duration
	}{
		{"HOSTPANEL_KEEP_WEBHOOK_BODIES", s.KeepBodies, 3650, &c.Retention.WebhookBodies},
		{"HOSTPANEL_KEEP_ATTEMPTS", s.KeepAttempts, 3650, &c.Retention.Attempts},
		{"HOSTPANEL_KEEP_DELIVERIES", s.KeepDeliveries, 365, &c.Retention.Deliveries},
		{"HOSTPANEL_KEEP_IDEMPOTENCY_KEYS", s.KeepIdempotencyKeys, 90, &c.Retention.IdempotencyKeys},
		{"HOSTPANEL_LOOKS_KEPT", s.LooksKept, 3650, &c.Retention.Looks},
		{"HOSTPANEL_KEEP_LINKS", s.KeepLinks, 365, &links},
	} {
		if err := setDays(kept.into, kept.setting, kept.days, 1, kept.most); err != nil {
			return err
		}
	}
	return c.sessions(s, links)
}

// sessions are those of browsers.
func (c *Config) sessions(s Settings, links time.Duration) error {
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
	c.Retention.Credentials = credentials.Times{SessionLife: life, SessionIdle: idle, KeepLinks: links}
	return nil
}
