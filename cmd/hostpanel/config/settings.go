package config

import (
	"time"

	"github.com/alecthomas/kong"
)

// Settings are what can be set, by flag, else by environment variable, else by
// default; an empty text is the default. [Settings.Abouts] says what each is about,
// and docs/configuration.md explains it.
// Secrets are no flags, because every process of the machine can read those.
// [Settings.ReadSecrets] takes them from the variable, or from the file that
// <NAME>_FILE names.
type Settings struct {
	AsOf time.Time `kong:"-"` // the moment that a command looks back at; zero: the present

	DatabaseURL    string `kong:"-" env:"DATABASE_URL" secret:"" placeholder:"URL"`
	Connections    string `name:"database-connections" group:"settings" env:"HOSTPANEL_DATABASE_CONNECTIONS" placeholder:"NUMBER"`
	DataDir        string `group:"settings" env:"HOSTPANEL_DATA_DIR" placeholder:"FOLDER"`
	ErasuresCopy   string `group:"settings" env:"HOSTPANEL_ERASURES_COPY" placeholder:"FILE"`
	PostgresMirror string `group:"settings" env:"HOSTPANEL_POSTGRES_MIRROR" placeholder:"URL"`
	Listen         string `group:"settings" env:"HOSTPANEL_LISTEN" placeholder:"127.0.0.1:8080"`
	PublicURL      string `group:"settings" env:"HOSTPANEL_PUBLIC_URL" placeholder:"URL"`
	SecretKey      string `kong:"-" env:"HOSTPANEL_SECRET_KEY" secret:"" placeholder:"BASE64"`

	AdminEmail    string `group:"settings" env:"HOSTPANEL_ADMIN_EMAIL" placeholder:"admin@localhost"`
	AdminPassword string `kong:"-" env:"HOSTPANEL_ADMIN_PASSWORD" secret:"" placeholder:"PASSWORD"`

	Engine  string `group:"settings" env:"HOSTPANEL_ENGINE" placeholder:"sandbox"`
	Compute string `group:"settings" env:"HOSTPANEL_COMPUTE" placeholder:"sandbox"`

	ISPConfigURL      string `name:"ispconfig-url" group:"settings" env:"ISPCONFIG_URL" placeholder:"URL"`
	ISPConfigUsername string `name:"ispconfig-username" group:"settings" env:"ISPCONFIG_USERNAME" placeholder:"NAME"`
	ISPConfigPassword string `kong:"-" env:"ISPCONFIG_PASSWORD" secret:"" placeholder:"PASSWORD"`
	ISPConfigServerID string `name:"ispconfig-server-id" group:"settings" env:"ISPCONFIG_SERVER_ID" placeholder:"NUMBER"`
	ISPConfigSites    string `name:"ispconfig-site-addresses" group:"settings" env:"ISPCONFIG_SITE_ADDRESSES" placeholder:"RULE"`
	ISPConfigStorage  string `name:"ispconfig-storage-share" group:"settings" env:"ISPCONFIG_STORAGE_SHARE" placeholder:"PERCENT"`

	EngineWait    string `group:"settings" env:"HOSTPANEL_ENGINE_WAIT" placeholder:"3s"`
	EngineCompare string `group:"settings" env:"HOSTPANEL_ENGINE_COMPARE" placeholder:"24h"`
	NameServers   string `name:"nameservers" group:"settings" env:"HOSTPANEL_NAMESERVERS" placeholder:"NAME,…"`
	SiteAddresses string `group:"settings" env:"HOSTPANEL_SITE_ADDRESSES" placeholder:"IP,…"`

	AddressRest string `group:"settings" env:"HOSTPANEL_ADDRESS_REST" placeholder:"7"`

	SMTPURL  string `kong:"-" env:"SMTP_URL" secret:"" placeholder:"URL"`
	MailFrom string `group:"settings" env:"MAIL_FROM" placeholder:"ADDRESS"`

	WebhookNetworks string `group:"settings" env:"HOSTPANEL_WEBHOOK_NETWORKS" placeholder:"CIDR,…"`

	Payments kong.Plugins `embed:"" group:"settings"` // payments.Settings of each provider; nil: those of Providers

	TaxRate      string `group:"settings" env:"HOSTPANEL_TAX_RATE" placeholder:"0.00"`
	Tax          string `group:"settings" env:"HOSTPANEL_TAX" placeholder:"single"`
	TaxRates     string `group:"settings" env:"HOSTPANEL_TAX_RATES" placeholder:"PT=23@2026-01-01"`
	Territories  string `name:"tax-territories" group:"settings" env:"HOSTPANEL_TAX_TERRITORIES" placeholder:"IT-LIVIGNO:IT:23041:outside"`
	Currency     string `group:"settings" env:"HOSTPANEL_CURRENCY" placeholder:"EUR"`
	Seller       string `group:"settings" env:"HOSTPANEL_SELLER" placeholder:"JSON"`
	InvoiceDays  string `group:"settings" env:"HOSTPANEL_INVOICE_DAYS" placeholder:"7"`
	ChargeDays   string `group:"settings" env:"HOSTPANEL_CHARGE_DAYS" placeholder:"1,3,5,7"`
	ReminderDays string `group:"settings" env:"HOSTPANEL_REMINDER_DAYS" placeholder:"-2,3,7"`
	SuspendDays  string `group:"settings" env:"HOSTPANEL_SUSPEND_DAYS" placeholder:"14"`
	EndDays      string `group:"settings" env:"HOSTPANEL_END_DAYS" placeholder:"30"`
	Language     string `name:"default-language" group:"settings" env:"HOSTPANEL_LANGUAGE" placeholder:"es"`
	Excess       string `name:"traffic-excess" group:"settings" env:"HOSTPANEL_TRAFFIC_EXCESS" placeholder:"tell"`
	Disputes     string `group:"settings" env:"HOSTPANEL_DISPUTES" placeholder:"suspend"`
	LatePayments string `group:"settings" env:"HOSTPANEL_LATE_PAYMENTS" placeholder:"reopen"`
	FiscalYears  string `group:"settings" env:"HOSTPANEL_FISCAL_YEARS" placeholder:"10"`
	UnusedTime   string `group:"settings" env:"HOSTPANEL_UNUSED_TIME" placeholder:"keep"`
	RefundGrace  string `group:"settings" env:"HOSTPANEL_REFUND_GRACE" placeholder:"7"`
	AbuseLimits  string `group:"settings" env:"HOSTPANEL_ABUSE_LIMITS" placeholder:"on"`
	SecondFactor string `name:"require-second-factor" group:"settings" env:"HOSTPANEL_REQUIRE_SECOND_FACTOR" placeholder:"off"`

	KeepBodies          string `name:"keep-webhook-bodies" group:"settings" env:"HOSTPANEL_KEEP_WEBHOOK_BODIES" placeholder:"90"`
	KeepAttempts        string `name:"keep-attempts" group:"settings" env:"HOSTPANEL_KEEP_ATTEMPTS" placeholder:"90"`
	KeepDeliveries      string `name:"keep-deliveries" group:"settings" env:"HOSTPANEL_KEEP_DELIVERIES" placeholder:"30"`
	KeepIdempotencyKeys string `name:"keep-idempotency-keys" group:"settings" env:"HOSTPANEL_KEEP_IDEMPOTENCY_KEYS" placeholder:"1"`
	KeepLinks           string `name:"keep-links" group:"settings" env:"HOSTPANEL_KEEP_LINKS" placeholder:"30"`
	SessionLife         string `name:"session-life" group:"settings" env:"HOSTPANEL_SESSION_LIFE" placeholder:"12h"`
	SessionIdle         string `name:"session-idle" group:"settings" env:"HOSTPANEL_SESSION_IDLE" placeholder:"30m"`
	SessionStay         string `name:"session-stay" group:"settings" env:"HOSTPANEL_SESSION_STAY" placeholder:"30"`

	TrustedProxies string `group:"settings" env:"HOSTPANEL_TRUSTED_PROXIES" placeholder:"CIDR,…"`
	CORSOrigins    string `name:"cors-origins" group:"settings" env:"HOSTPANEL_CORS_ORIGINS" placeholder:"ORIGIN,…"`
	LogPublic      string `group:"settings" env:"HOSTPANEL_LOG_PUBLIC" placeholder:"off"`
	LogTokens      string `kong:"-" env:"HOSTPANEL_LOG_TOKENS" secret:"" placeholder:"TOKEN,…"`
	LogPolicy      string `group:"settings" env:"HOSTPANEL_LOG_POLICY" placeholder:"FILE"`
	LogWitness     string `name:"log-witness-every" group:"settings" env:"HOSTPANEL_LOG_WITNESS_EVERY" placeholder:"1m"`
	LooksKept      string `group:"settings" env:"HOSTPANEL_LOOKS_KEPT" placeholder:"365"`
	LogLevel       string `group:"settings" env:"HOSTPANEL_LOG_LEVEL" placeholder:"info"`
}

// A View is what a look back shows.
type View struct {
	AsOf  time.Time             // the moment; zero: the present
	Looks func(done, all int64) // is told how much of the log has been read; may be nil
}

// later are settings of parts that this version does not have. To set one of
// them is a mistake that must not pass in silence: money would not arrive.
var later = []string{
	"DATABASE_READ_URL", "NATS_URL",
}

// idle are settings that nothing here asks for yet; to set one does no harm.
var idle = []string{
	"PROXMOX_URL", "PROXMOX_TOKEN_ID", "PROXMOX_TOKEN_SECRET", "PROXMOX_NODE",
}
