package config

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/cmd/hostpanel/console"
)

// engine checks which hosting engine is used. The demo uses nothing outside.
func (c *Config) engine(s Settings) error {
	switch engine := cmp.Or(s.Engine, "sandbox"); {
	case engine == "sandbox" && !c.Demo:
		c.warn("HOSTPANEL_ENGINE is the sandbox: no site is really made")
		return nil
	case engine == "sandbox":
		return nil
	case engine != "ispconfig":
		return console.Misused("HOSTPANEL_ENGINE is sandbox or ispconfig, not %q", engine)
	case c.Demo:
		return console.Misused("HOSTPANEL_ENGINE: the demo has the sandbox alone, not %q", engine)
	}
	for _, needed := range []struct{ setting, value string }{
		{"ISPCONFIG_URL", s.ISPConfigURL},
		{"ISPCONFIG_USERNAME", s.ISPConfigUsername},
		{"ISPCONFIG_PASSWORD", s.ISPConfigPassword},
		{"ISPCONFIG_SERVER_ID", s.ISPConfigServerID},
	} {
		if needed.value == "" {
			return console.Misused("%s is needed with HOSTPANEL_ENGINE=ispconfig", needed.setting)
		}
	}
	if err := isEngineURL(s.ISPConfigURL); err != nil {
		return err
	}
	if rule := s.ISPConfigSites; rule != "" && rule != "any" && rule != "named" {
		return console.Misused("ISPCONFIG_SITE_ADDRESSES is any or named, not %q", rule)
	}
	share, err := shareOf(s.ISPConfigStorage)
	if err != nil {
		return err
	}
	servers, err := serversOf(s.ISPConfigServerID)
	c.ISPConfig = &ispconfig.Config{
		Name: "ispconfig", URL: s.ISPConfigURL, User: s.ISPConfigUsername, Password: s.ISPConfigPassword, Servers: servers,
		Named: s.ISPConfigSites == "named", StorageShare: share,
	}
	return err
}

// isEngineURL wants TLS wherever others could listen: passwords go along.
func isEngineURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !IsLoopback(u.Hostname())) {
		return console.Misused("ISPCONFIG_URL is not a URL such as https://engine.example.com:8080")
	}
	return nil
}

// shareOf reads how much of its tenant's storage each site and each database has, in per cent.
func shareOf(text string) (int64, error) {
	if text == "" || text == "whole" {
		return 100, nil
	}
	share, err := strconv.ParseInt(text, 10, 64)
	if err != nil || share < 1 || share > 100 {
		return 0, console.Misused("ISPCONFIG_STORAGE_SHARE is whole or a number from 1 to 100, not %q", text)
	}
	return share, nil
}

// serversOf reads one number for everything, or one for each role.
func serversOf(text string) (servers ispconfig.Servers, err error) {
	mistake := console.Misused("ISPCONFIG_SERVER_ID: %q is not a number above zero, or web=1,database=2,dns=3,mail=4", text)
	roles := map[string]*int64{"web": &servers.Web, "database": &servers.Database, "dns": &servers.DNS, "mail": &servers.Mail}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		return ispconfig.Servers{Web: n, Database: n, DNS: n, Mail: n}, nil
	}
	for pair := range strings.SplitSeq(text, ",") {
		role, number, _ := strings.Cut(strings.TrimSpace(pair), "=")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 || roles[role] == nil || *roles[role] != 0 {
			return servers, mistake
		}
		*roles[role] = n
	}
	if servers.Web*servers.Database*servers.DNS*servers.Mail == 0 {
		return servers, mistake
	}
	return servers, nil
}
