package config

import (
	"cmp"
	"os"
	"strings"
	"time"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/eventstore/tlog"
	"hostpanel/http/audit"
)

// Transparency is about the transparency log: who may fetch it, and who witnesses it.
type Transparency struct {
	LogAccess    audit.LogAccess
	LogPolicy    string // of the witnesses; empty: there are none
	WitnessEvery time.Duration
}

// shortestToken is the least number of characters of an observer's token.
const shortestToken = 20

// observers may fetch the transparency log.
func (c *Config) observers(s Settings) (err error) {
	if c.LogAccess.Public, err = onOff("HOSTPANEL_LOG_PUBLIC", s.LogPublic, false); err != nil {
		return err
	}
	for token := range strings.SplitSeq(s.LogTokens, ",") {
		if token = strings.TrimSpace(token); token == "" {
			continue
		}
		if len(token) < shortestToken || strings.ContainsAny(token, " \t") {
			return console.Misused(
				"HOSTPANEL_LOG_TOKENS: each token has %d characters or more and no spaces; make one with: openssl rand -hex 20",
				shortestToken,
			)
		}
		c.LogAccess.Tokens = append(c.LogAccess.Tokens, token)
	}
	return nil
}

// witnesses are named by a policy, and asked in an interval.
func (c *Config) witnesses(s Settings) (err error) {
	c.WitnessEvery, err = time.ParseDuration(cmp.Or(s.LogWitness, "1m"))
	if err != nil || c.WitnessEvery < 10*time.Second || c.WitnessEvery > time.Hour {
		return console.Misused("HOSTPANEL_LOG_WITNESS_EVERY: %q is not a time from 10s to 1h, such as 1m", s.LogWitness)
	}
	if s.LogPolicy == "" {
		return nil
	}
	text, err := os.ReadFile(s.LogPolicy)
	if err == nil {
		_, err = tlog.ParsePolicy(string(text))
	}
	if err != nil {
		return console.Misused("HOSTPANEL_LOG_POLICY: %w", err)
	}
	c.LogPolicy = string(text)
	return nil
}
