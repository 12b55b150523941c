// Package config reads and checks the settings of the program, each explained in
// docs/configuration.md.
package config

import (
	"cmp"
	"log/slog"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/orders"
)

// A Config is the settings, checked and in their own types.
type Config struct {
	Demo           bool
	DatabaseURL    string       // empty: Postgres of our own
	Connections    int          // to the database, of a process that serves or works, at most
	Begins         func(string) // is told what of a start takes a moment; nil: nothing is
	PostgresMirror string       // of its programs, where the machine has none; empty: Maven Central
	DataDir        string
	ErasuresCopy   string // second file with the list of erasures; empty: there is none
	Listen         string
	PublicURL      string // empty: known once we listen
	TrafficExcess  string // of virtual servers: see [hosting.CountTraffic]
	secretKey      string // empty: to be found, or made, in the data directory
	AdminEmail     string
	AdminPassword  string            // empty: to be drawn
	ISPConfig      *ispconfig.Config // nil: the engine is the sandbox
	Hypervisors    []Hypervisor      // at least one
	NameServers    []string          // of zones, with final dots; at least one
	SiteAddresses  []string          // under which sites with the address * are reached
	EngineWait     time.Duration     // that an answer waits for the engine
	SMTPURL        string
	MailFrom       string // empty: made of the public host
	Payments       []*Provider
	Joined         bool // for one command, beside what serves
	View
	Currency       string
	Language       string // of requests that name none
	Policy         assembly.Policy
	Retention      assembly.Retention
	AbuseLimits    bool
	SecondFactor   bool // superusers need one
	TrustedProxies []netip.Prefix
	Webhooks       []netip.Prefix // that tenants' webhooks may reach besides the internet
	Origins        []string       // from which browsers may call the APIs, besides the storefront
	Transparency
	Checkpoint string // file with a checkpoint that the log is held against at the start; empty: none
	LogLevel   slog.Level
	warnings   []string
	given      Settings // as they were given; with secrets

	Times assembly.Times // zero: those of docs/sagas.md; no setting changes them
}

// New checks the settings. In the demo nothing outside is used, and
// payments are without money.
func New(s Settings, demo bool) (*Config, error) {
	c := &Config{
		Demo: demo, DatabaseURL: s.DatabaseURL, secretKey: s.SecretKey,
		Listen: cmp.Or(s.Listen, "127.0.0.1:8080"), AdminEmail: cmp.Or(s.AdminEmail, "admin@localhost"),
		AdminPassword: s.AdminPassword, SMTPURL: s.SMTPURL, MailFrom: s.MailFrom, View: View{AsOf: s.AsOf},
	}
	if s.Payments == nil {
		s.Payments = Providers()
	}
	c.given = s
	var err error
	if c.warnings, err = checkEnvironment(os.Environ()); err != nil {
		return nil, err
	}
	for _, check := range []func(Settings) error{
		c.place, c.database, c.address, c.names, c.sites, c.engine, c.patience, c.comparing, c.compute, c.providers, c.switches,
		c.money, c.language, c.policy, c.retention, c.networks, c.origins, c.secrets, c.observers, c.witnesses, c.logging,
	} {
		if err := check(s); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// patience is how long answers wait for the hosting engine.
func (c *Config) patience(s Settings) (err error) {
	const most = 20 * time.Second // a call ends after 30
	c.EngineWait, err = time.ParseDuration(cmp.Or(s.EngineWait, "3s"))
	if err != nil || c.EngineWait < 0 || c.EngineWait > most {
		return console.Misused("HOSTPANEL_ENGINE_WAIT: %q is not a time of up to 20s, such as 3s or 500ms", s.EngineWait)
	}
	return nil
}

// comparing is how often tenants are compared with the engine.
func (c *Config) comparing(s Settings) error {
	if s.EngineCompare == "" {
		return nil
	}
	every, err := time.ParseDuration(s.EngineCompare)
	if err != nil || every != 0 && (every < time.Hour || every > 720*time.Hour) {
		return console.Misused("HOSTPANEL_ENGINE_COMPARE: %q is neither 0 nor a time from 1h to 720h, such as 24h", s.EngineCompare)
	}
	c.Policy.Compare = &every
	return nil
}

func (c *Config) switches(s Settings) (err error) {
	if c.AbuseLimits, err = onOff("HOSTPANEL_ABUSE_LIMITS", s.AbuseLimits, !c.Demo); err != nil {
		return err
	}
	c.SecondFactor, err = onOff("HOSTPANEL_REQUIRE_SECOND_FACTOR", s.SecondFactor, false)
	return err
}

func onOff(setting, value string, otherwise bool) (bool, error) {
	switch value {
	case "":
		return otherwise, nil
	case "on", "off":
		return value == "on", nil
	}
	return false, console.Misused("%s is on or off, not %q", setting, value)
}

var currencies = regexp.MustCompile(`^[A-Z]{3}$`)

// language is that of people, orders and widgets that name none.
func (c *Config) language(s Settings) error {
	c.Language = cmp.Or(s.Language, field.DefaultLanguage)
	_, err := oneOf("HOSTPANEL_LANGUAGE", c.Language, "es", "en")
	return err
}

// policy is what is settled about orders that end, or are paid late.
func (c *Config) policy(s Settings) (err error) {
	if c.Policy.KeepDisputed, err = oneOf("HOSTPANEL_DISPUTES", s.Disputes, "suspend", "notify"); err != nil {
		return err
	}
	if c.Policy.RefundUnused, err = oneOf("HOSTPANEL_UNUSED_TIME", s.UnusedTime, "keep", "refund"); err != nil {
		return err
	}
	if c.TrafficExcess, err = trafficExcess(s.Excess); err != nil {
		return err
	}
	if c.Policy.RefundLate, err = oneOf("HOSTPANEL_LATE_PAYMENTS", s.LatePayments, "reopen", "refund"); err != nil {
		return err
	}
	if c.Policy.YearsKept, err = yearsKept(s.FiscalYears); err != nil {
		return err
	}
	c.Policy.AddressRest = orders.UsualRest
	if err = setDays(&c.Policy.AddressRest, "HOSTPANEL_ADDRESS_REST", s.AddressRest, 1, 365); err != nil {
		return err
	}
	if s.RefundGrace == "" {
		return nil
	}
	c.Policy.RefundGrace = new(time.Duration)
	return setDays(c.Policy.RefundGrace, "HOSTPANEL_REFUND_GRACE", s.RefundGrace, 0, 90)
}

// yearsKept is for how long buyers' data on invoices is kept.
func yearsKept(setting string) (int, error) {
	return number("HOSTPANEL_FISCAL_YEARS", "years", setting, billing.UsualYearsKept, billing.LeastYearsKept, billing.MostYearsKept)
}

// number is a whole number of something; usual if none is set.
func number(name, of, setting string, usual, least, most int) (int, error) {
	if setting == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(setting)
	if err != nil || n < least || n > most {
		return 0, console.Misused("%s: %q is not a number of %s from %d to %d", name, setting, of, least, most)
	}
	return n, nil
}

// setDays sets a time that is given in days, if it is given.
func setDays(into *time.Duration, name, setting string, least, most int) error {
	if setting == "" {
		return nil
	}
	days, err := number(name, "days", setting, 0, least, most)
	if err == nil {
		*into = time.Duration(days) * day
	}
	return err
}

// oneOf tells whether a setting has its other value instead of the default.
// trafficExcess is what happens to a virtual server whose traffic is used up.
func trafficExcess(value string) (string, error) {
	all := []string{hosting.TellTraffic, hosting.SlowTraffic, hosting.StopTraffic}
	excess := cmp.Or(value, hosting.TellTraffic)
	if !slices.Contains(all, excess) {
		return "", console.Misused("HOSTPANEL_TRAFFIC_EXCESS is tell, slow or stop, not %q", value)
	}
	return excess, nil
}

func oneOf(setting, value, otherwise, other string) (bool, error) {
	if v := cmp.Or(value, otherwise); v != otherwise && v != other {
		return false, console.Misused("%s is %s or %s, not %q", setting, otherwise, other, value)
	}
	return value == other, nil
}

func (c *Config) networks(s Settings) (err error) {
	if c.TrustedProxies, err = networks("HOSTPANEL_TRUSTED_PROXIES", s.TrustedProxies); err != nil {
		return err
	}
	c.Webhooks, err = networks("HOSTPANEL_WEBHOOK_NETWORKS", s.WebhookNetworks)
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
			return nil, console.Misused("%s: %q is not a network such as 10.0.0.0/8", setting, text)
		}
		all = append(all, network.Masked())
	}
	return all, nil
}

// origins are those from which browsers may call the APIs.
func (c *Config) origins(s Settings) error {
	for origin := range strings.SplitSeq(s.CORSOrigins, ",") {
		if origin = strings.TrimSpace(origin); origin == "" {
			continue
		}
		if origin = field.Origin.Tidy(origin); !field.Origin.Holds(origin) {
			return console.Misused("HOSTPANEL_CORS_ORIGINS: %q is not an origin such as https://app.example.com", origin)
		}
		c.Origins = append(c.Origins, origin)
	}
	return nil
}

// postgresURL is a URL, or a list of parameters such as "host=/tmp dbname=x".
var postgresURL = regexp.MustCompile(`^(postgres|postgresql)://|^[a-z_]+ *=`)

func (c *Config) secrets(s Settings) error {
	if _, err := pgx.ParseConfig(s.DatabaseURL); s.DatabaseURL != "" && (err != nil || !postgresURL.MatchString(s.DatabaseURL)) {
		return console.Misused("DATABASE_URL is not a Postgres URL such as postgres://user:password@host/database") // err has the password
	}
	if s.DatabaseURL != "" && s.SecretKey == "" {
		return console.Misused(
			"HOSTPANEL_SECRET_KEY is needed with DATABASE_URL, the same one in every process; make one with: openssl rand -base64 32",
		)
	}
	if n := len([]rune(s.AdminPassword)); s.AdminPassword != "" && (n < 8 || n > 128) {
		return console.Misused("HOSTPANEL_ADMIN_PASSWORD must have 8 to 128 characters")
	}
	return nil
}

func (c *Config) logging(s Settings) error {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "": slog.LevelInfo, "info": slog.LevelInfo, "warn": slog.LevelWarn,
		"error": slog.LevelError,
	}
	level, known := levels[s.LogLevel]
	if !known {
		return console.Misused("HOSTPANEL_LOG_LEVEL is debug, info, warn or error, not %q", s.LogLevel)
	}
	c.LogLevel = level
	return nil
}

// LevelOn is the lowest level that is logged to a terminal, or elsewhere. On a terminal the
// requests of a demo would push its links away, so that it logs warnings, unless a level is set.
func (c *Config) LevelOn(terminal bool) slog.Level {
	if c.Demo && terminal && c.given.LogLevel == "" {
		return slog.LevelWarn
	}
	return c.LogLevel
}

func (c *Config) warn(text string) { c.warnings = append(c.warnings, text) }

// Warnings are about settings that are allowed, and seldom meant.
func (c *Config) Warnings() []string { return c.warnings }

// Announce logs the settings for the operator who starts the program.
func (c *Config) Announce(log *slog.Logger) {
	for _, w := range c.warnings {
		log.Warn(w)
	}
}
