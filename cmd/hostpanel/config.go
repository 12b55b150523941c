package main

import (
	"cmp"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/domain/dns"
	"hostpanel/sagas/assembly"
)

// A config is the settings, checked and in their own types.
type config struct {
	demo           bool
	databaseURL    string // empty: Postgres of our own
	dataDir        string
	listen         string
	publicURL      string // empty: known once we listen
	secretKey      string // empty: to be found, or made, in the data directory
	adminEmail     string
	adminPassword  string            // empty: to be drawn
	ispconfig      *ispconfig.Config // nil: the engine is the sandbox
	nameServers    []string          // of zones, with final dots; at least one
	engineWait     time.Duration     // that an answer waits for the engine
	smtpURL        string
	mailFrom       string // empty: made of the public host
	payments       []*provider
	joined         bool // for one command, beside what serves
	taxRate        decimal.Decimal
	currency       string
	abuseLimits    bool
	trustedProxies []netip.Prefix
	webhooks       []netip.Prefix // that tenants' webhooks may reach besides the internet
	logLevel       slog.Level
	warnings       []string

	times assembly.Times // zero: those of docs/sagas.md; no setting changes them
}

// configure checks the settings. In the demo nothing outside is used, and
// payments are without money.
func configure(s Settings, demo bool) (*config, error) {
	c := &config{
		demo: demo, databaseURL: s.DatabaseURL, secretKey: s.SecretKey,
		listen: cmp.Or(s.Listen, "127.0.0.1:8080"), adminEmail: cmp.Or(s.AdminEmail, "admin@localhost"),
		adminPassword: s.AdminPassword, smtpURL: s.SMTPURL, mailFrom: s.MailFrom,
	}
	var err error
	if c.warnings, err = checkEnvironment(os.Environ()); err != nil {
		return nil, err
	}
	for _, check := range []func(Settings) error{
		c.place, c.address, c.names, c.engine, c.patience, c.compute, c.providers, c.switches, c.money, c.networks, c.secrets, c.logging,
	} {
		if err := check(s); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *config) place(s Settings) (err error) {
	c.dataDir, err = dataDir(s.DataDir)
	return err
}

// address checks where we listen and how we are reached.
func (c *config) address(s Settings) error {
	if _, _, err := net.SplitHostPort(c.listen); err != nil {
		return misused("HOSTPANEL_LISTEN: %q is not an address such as 127.0.0.1:8080", c.listen)
	}
	if s.PublicURL == "" {
		return nil
	}
	u, err := url.Parse(strings.TrimRight(s.PublicURL, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return misused("HOSTPANEL_PUBLIC_URL: %q is not a URL such as https://panel.example.com", s.PublicURL)
	}
	c.publicURL = u.String()
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		c.warn("HOSTPANEL_PUBLIC_URL is http on a host that others can reach: passwords and keys would travel in clear text")
	}
	return nil
}

// names are the name servers of zones, with final dots.
func (c *config) names(s Settings) error {
	for name := range strings.SplitSeq(s.NameServers, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		full := dns.Origin.Tidy(name)
		if !dns.Origin.Holds(full) {
			return misused("HOSTPANEL_NAMESERVERS: %q is not a name such as ns1.example.com", name)
		}
		c.nameServers = append(c.nameServers, full)
	}
	if c.nameServers == nil {
		host := c.publicHost()
		c.nameServers = []string{"ns1." + host, "ns2." + host}
	}
	return nil
}

// publicHost is the domain under which we are reached, with a final dot. One
// that has no name in the world's DNS gets one that does not exist.
func (c *config) publicHost() string {
	host, _, _ := net.SplitHostPort(c.listen) // which address has checked
	if u, err := url.Parse(c.publicURL); err == nil && c.publicURL != "" {
		host = u.Hostname()
	}
	name := dns.Origin.Tidy(host)
	if _, err := netip.ParseAddr(host); err == nil || isLoopback(host) || !dns.Origin.Holds("ns1."+name) {
		return "hostpanel.invalid."
	}
	return name
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && addr.IsLoopback()
}

// compute checks where machines are made: only in the sandbox so far.
func (c *config) compute(s Settings) error {
	if cmp.Or(s.Compute, "sandbox") != "sandbox" {
		return misused("HOSTPANEL_COMPUTE: this version has only the sandbox, not %q", s.Compute)
	}
	if !c.demo {
		c.warn("HOSTPANEL_COMPUTE is the sandbox: no machine is really made")
	}
	return nil
}

// patience is how long answers wait for the hosting engine.
func (c *config) patience(s Settings) (err error) {
	const most = 20 * time.Second // a call ends after 30
	c.engineWait, err = time.ParseDuration(cmp.Or(s.EngineWait, "3s"))
	if err != nil || c.engineWait < 0 || c.engineWait > most {
		return misused("HOSTPANEL_ENGINE_WAIT: %q is not a time of up to 20s, such as 3s or 500ms", s.EngineWait)
	}
	return nil
}

func (c *config) switches(s Settings) (err error) {
	c.abuseLimits, err = onOff("HOSTPANEL_ABUSE_LIMITS", s.AbuseLimits, !c.demo)
	return err
}

func onOff(setting, value string, otherwise bool) (bool, error) {
	switch value {
	case "":
		return otherwise, nil
	case "on", "off":
		return value == "on", nil
	}
	return false, misused("%s is on or off, not %q", setting, value)
}

var currencies = regexp.MustCompile(`^[A-Z]{3}$`)

func (c *config) money(s Settings) (err error) {
	c.currency = cmp.Or(s.Currency, "EUR")
	if !currencies.MatchString(c.currency) {
		return misused("HOSTPANEL_CURRENCY: %q is not three capitals such as EUR", c.currency)
	}
	rate := "0.00"
	if c.demo {
		rate = "21.00"
	}
	rate = cmp.Or(s.TaxRate, rate)
	c.taxRate, err = decimal.NewFromString(rate)
	if err != nil || c.taxRate.IsNegative() || c.taxRate.GreaterThan(decimal.NewFromInt(100)) || !c.taxRate.Equal(c.taxRate.Round(2)) {
		return misused("HOSTPANEL_TAX_RATE: %q is not a percentage such as 21.00", rate)
	}
	return nil
}

func (c *config) networks(s Settings) (err error) {
	if c.trustedProxies, err = networks("HOSTPANEL_TRUSTED_PROXIES", s.TrustedProxies); err != nil {
		return err
	}
	c.webhooks, err = networks("HOSTPANEL_WEBHOOK_NETWORKS", s.WebhookNetworks)
	return err
}

// networks reads a list of networks, and addresses as networks of one.
func networks(setting, list string) (all []netip.Prefix, err error) {
	for text := range strings.SplitSeq(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		network, err := netip.ParsePrefix(text)
		if addr, err2 := netip.ParseAddr(text); err != nil && err2 == nil {
			network, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return nil, misused("%s: %q is not a network such as 10.0.0.0/8", setting, text)
		}
		all = append(all, network.Masked())
	}
	return all, nil
}

func (c *config) secrets(s Settings) error {
	if s.DatabaseURL != "" && s.SecretKey == "" {
		return misused("HOSTPANEL_SECRET_KEY is needed with DATABASE_URL, the same one in every process; make one with: openssl rand -base64 32")
	}
	if n := len([]rune(s.AdminPassword)); s.AdminPassword != "" && (n < 8 || n > 128) {
		return misused("HOSTPANEL_ADMIN_PASSWORD must have 8 to 128 characters")
	}
	return nil
}

func (c *config) logging(s Settings) error {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "": slog.LevelInfo, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	level, known := levels[s.LogLevel]
	if !known {
		return misused("HOSTPANEL_LOG_LEVEL is debug, info, warn or error, not %q", s.LogLevel)
	}
	c.logLevel = level
	return nil
}

func (c *config) warn(text string) { c.warnings = append(c.warnings, text) }

// announce logs the settings for the operator who starts the program.
func (c *config) announce(log *slog.Logger) {
	for _, w := range c.warnings {
		log.Warn(w)
	}
}
