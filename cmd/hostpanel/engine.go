package main

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hostpanel/adapters/engine/ispconfig"
	enginesandbox "hostpanel/adapters/engine/sandbox"
	"hostpanel/domain"
	"hostpanel/sagas/assembly"
)

// engine checks which hosting engine is used. The demo uses nothing outside.
func (c *config) engine(s Settings) error {
	switch engine := cmp.Or(s.Engine, "sandbox"); {
	case engine == "sandbox" && !c.demo:
		c.warn("HOSTPANEL_ENGINE is the sandbox: no site is really made")
		return nil
	case engine == "sandbox":
		return nil
	case engine != "ispconfig":
		return misused("HOSTPANEL_ENGINE is sandbox or ispconfig, not %q", engine)
	case c.demo:
		return misused("HOSTPANEL_ENGINE: the demo has the sandbox alone, not %q", engine)
	}
	for _, needed := range []struct{ setting, value string }{
		{"ISPCONFIG_URL", s.ISPConfigURL},
		{"ISPCONFIG_USERNAME", s.ISPConfigUsername},
		{"ISPCONFIG_PASSWORD", s.ISPConfigPassword},
		{"ISPCONFIG_SERVER_ID", s.ISPConfigServerID},
	} {
		if needed.value == "" {
			return misused("%s is needed with HOSTPANEL_ENGINE=ispconfig", needed.setting)
		}
	}
	if err := isEngineURL(s.ISPConfigURL); err != nil {
		return err
	}
	servers, err := serversOf(s.ISPConfigServerID)
	c.ispconfig = &ispconfig.Config{
		Name: "ispconfig", URL: s.ISPConfigURL, User: s.ISPConfigUsername, Password: s.ISPConfigPassword, Servers: servers,
	}
	return err
}

// isEngineURL wants TLS wherever others could listen: passwords go along.
func isEngineURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return misused("ISPCONFIG_URL is not a URL such as https://engine.example.com:8080")
	}
	return nil
}

// serversOf reads one number for everything, or one for each role.
func serversOf(text string) (servers ispconfig.Servers, err error) {
	mistake := misused("ISPCONFIG_SERVER_ID: %q is not a number above zero, or web=1,database=2,dns=3,mail=4", text)
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

// issuing is how long the sandbox takes to issue a certificate: long enough to
// be seen waiting.
const issuing, validity = 2 * time.Second, 90 * 24 * time.Hour

// hostingEngine is the one that is configured.
func (p *program) hostingEngine() (assembly.Engine, error) {
	if p.config.ispconfig == nil {
		return enginesandbox.New(p.pool, enginesandbox.Issuing(issuing, validity)), nil
	}
	c := *p.config.ispconfig
	c.NameServers, c.Turns, c.Log = p.config.nameServers, ispconfig.Together(p.turns), p.log
	engine, err := ispconfig.New(c)
	if err != nil {
		return nil, err
	}
	p.ispconfig = engine
	return engine, nil
}

// turnsAtOnce is how many writes to the engine one process has under way.
const turnsAtOnce = 4

// engineKnown looks at the engine before anything is asked of it. One that is
// away may come back; one that is not what the settings say never will be.
func (p *program) engineKnown(ctx context.Context) error {
	if p.ispconfig == nil {
		return nil
	}
	err := p.ispconfig.Check(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case domain.ClassOf(err) == domain.Permanent:
		return misused("ISPCONFIG_URL, _USERNAME, _PASSWORD, _SERVER_ID: %w", err)
	}
	p.log.Warn("the hosting engine does not answer; what is asked of it waits", "error", err)
	return nil
}

// leaveEngine ends our session with the engine.
func (p *program) leaveEngine() {
	if p.ispconfig == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := p.ispconfig.Close(ctx); err != nil {
		p.log.Warn("the session with the hosting engine was not ended", "error", err)
	}
}
