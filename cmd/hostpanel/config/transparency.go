package config

import (
	"strings"

	"hostpanel/cmd/hostpanel/console"
)

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
			return console.Misused("HOSTPANEL_LOG_TOKENS: each token has %d characters or more and no spaces; make one with: openssl rand -hex 20", shortestToken)
		}
		c.LogAccess.Tokens = append(c.LogAccess.Tokens, token)
	}
	return nil
}
