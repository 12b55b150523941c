package config

import (
	"time"

	"github.com/alecthomas/kong"
)

// Settings are what can be set, by flag, else by environment variable, else by
// default; an empty text is the default. docs/configuration.md explains each.
// Secrets are no flags, because every process of the machine can read those.
// [Settings.ReadSecrets] takes them from the variable, or from the file that
// <NAME>_FILE names.
type Settings struct {
	AsOf time.Time `kong:"-"` // the moment that a command looks back at; zero: the present

	DatabaseURL    string `kong:"-" env:"DATABASE_URL" secret:"" placeholder:"URL" help:"Postgres to use; none: one of our own in the data directory."`
	Connections    string `name:"database-connections" group:"settings" env:"HOSTPANEL_DATABASE_CONNECTIONS" placeholder:"NUMBER" help:"Of each process that serves or works, 8 to 500; none: 16 and 8 for each processor, at most 64."`
	DataDir        string `group:"settings" env:"HOSTPANEL_DATA_DIR" placeholder:"FOLDER" help:"Where everything is kept."`
	ErasuresCopy   string `group:"settings" env:"HOSTPANEL_ERASURES_COPY" placeholder:"FILE" help:"Second place for the list of erasures, on another disk or machine; none: the data directory alone."`
	PostgresMirror string `group:"settings" env:"HOSTPANEL_POSTGRES_MIRROR" placeholder:"URL" help:"Maven repository to fetch Postgres from, where the machine has none; none: Maven Central."`
	Listen         string `group:"settings" env:"HOSTPANEL_LISTEN" placeholder:"127.0.0.1:8080" help:"Address to serve on; port 0 is any free one."`
	PublicURL      string `group:"settings" env:"HOSTPANEL_PUBLIC_URL" placeholder:"URL" help:"How the world reaches us; none: http:// and the address."`
	SecretKey      string `kong:"-" env:"HOSTPANEL_SECRET_KEY" secret:"" placeholder:"BASE64" help:"32 bytes; several with commas while rotating. Generated with the own Postgres."`

	AdminEmail    string `group:"settings" env:"HOSTPANEL_ADMIN_EMAIL" placeholder:"admin@localhost" help:"First superuser, made when there is none."`
	AdminPassword string `kong:"-" env:"HOSTPANEL_ADMIN_PASSWORD" secret:"" placeholder:"PASSWORD" help:"Of the first superuser; none: a random one, printed once."`

	Engine  string `group:"settings" env:"HOSTPANEL_ENGINE" placeholder:"sandbox" help:"Hosting engine: sandbox or ispconfig."`
	Compute string `group:"settings" env:"HOSTPANEL_COMPUTE" placeholder:"sandbox" help:"Where virtual machines are made."`

	ISPConfigURL      string `name:"ispconfig-url" group:"settings" env:"ISPCONFIG_URL" placeholder:"URL" help:"Where ISPConfig is, with its port."`
	ISPConfigUsername string `name:"ispconfig-username" group:"settings" env:"ISPCONFIG_USERNAME" placeholder:"NAME" help:"ISPConfig's remote user."`
	ISPConfigPassword string `kong:"-" env:"ISPCONFIG_PASSWORD" secret:"" placeholder:"PASSWORD" help:"Of the remote user."`
	ISPConfigServerID string `name:"ispconfig-server-id" group:"settings" env:"ISPCONFIG_SERVER_ID" placeholder:"NUMBER" help:"ISPConfig's server, or web=1,database=2,dns=3,mail=4."`

	EngineWait    string `group:"settings" env:"HOSTPANEL_ENGINE_WAIT" placeholder:"3s" help:"How long an answer waits for the engine, up to 20s; 0: not at all."`
	EngineCompare string `group:"settings" env:"HOSTPANEL_ENGINE_COMPARE" placeholder:"24h" help:"In which time every tenant is compared with the engine once, 1h to 720h; 0: none is."`
	NameServers   string `name:"nameservers" group:"settings" env:"HOSTPANEL_NAMESERVERS" placeholder:"NAME,…" help:"Of DNS zones; none: ns1. and ns2. of the public host."`

	SMTPURL  string `kong:"-" env:"SMTP_URL" secret:"" placeholder:"URL" help:"Mail server; none: a file for each mail in the outbox of the data directory."`
	MailFrom string `group:"settings" env:"MAIL_FROM" placeholder:"ADDRESS" help:"Sender of mails; none: hostpanel@ and the public host."`

	WebhookNetworks string `group:"settings" env:"HOSTPANEL_WEBHOOK_NETWORKS" placeholder:"CIDR,…" help:"Networks that webhooks of tenants may reach besides the internet."`

	Payments kong.Plugins `embed:"" group:"settings"` // payments.Settings of each provider; nil: those of Providers

	TaxRate      string `group:"settings" env:"HOSTPANEL_TAX_RATE" placeholder:"0.00" help:"Percent that prices include."`
	Tax          string `group:"settings" env:"HOSTPANEL_TAX" placeholder:"single" help:"By whose rates tax is charged: single, seller or oss."`
	TaxRates     string `group:"settings" env:"HOSTPANEL_TAX_RATES" placeholder:"PT=23@2026-01-01" help:"Rates of countries, with commas, in place of those that the program knows."`
	Currency     string `group:"settings" env:"HOSTPANEL_CURRENCY" placeholder:"EUR" help:"Of plans that name none."`
	Seller       string `group:"settings" env:"HOSTPANEL_SELLER" placeholder:"JSON" help:"Who sells, for invoices: name, address, city, postal_code, country, tax_id, register, iban, bic."`
	InvoiceDays  string `group:"settings" env:"HOSTPANEL_INVOICE_DAYS" placeholder:"7" help:"Days, 0 to 60, before a period begins, when its invoice is issued."`
	ChargeDays   string `group:"settings" env:"HOSTPANEL_CHARGE_DAYS" placeholder:"1,3,5,7" help:"Days after the first refused charge of a saved payment method, when it is charged again."`
	ReminderDays string `group:"settings" env:"HOSTPANEL_REMINDER_DAYS" placeholder:"-2,3,7" help:"Days after the due date of an invoice, before it if negative, when its customer is reminded."`
	SuspendDays  string `group:"settings" env:"HOSTPANEL_SUSPEND_DAYS" placeholder:"14" help:"Days, 1 to 365, after the due date, when the service is suspended."`
	EndDays      string `group:"settings" env:"HOSTPANEL_END_DAYS" placeholder:"30" help:"Days, 1 to 365, after its suspension, when the service ends."`
	Language     string `name:"default-language" group:"settings" env:"HOSTPANEL_LANGUAGE" placeholder:"es" help:"Of people, orders and widgets that name none: es or en."`
	Disputes     string `group:"settings" env:"HOSTPANEL_DISPUTES" placeholder:"suspend" help:"What a disputed payment does to its service: suspend it, or notify operators only."`
	LatePayments string `group:"settings" env:"HOSTPANEL_LATE_PAYMENTS" placeholder:"reopen" help:"What money for an expired order does: reopen it, or refund."`
	FiscalYears  string `group:"settings" env:"HOSTPANEL_FISCAL_YEARS" placeholder:"10" help:"Years, 1 to 30, after the year of issue, when buyers' data on invoices is destroyed."`
	UnusedTime   string `group:"settings" env:"HOSTPANEL_UNUSED_TIME" placeholder:"keep" help:"Whether paid time that is not used is refunded when a subscription is cancelled at once: keep or refund."`
	RefundGrace  string `group:"settings" env:"HOSTPANEL_REFUND_GRACE" placeholder:"7" help:"Days, 0 to 90, for which a service that has ended is kept."`
	AbuseLimits  string `group:"settings" env:"HOSTPANEL_ABUSE_LIMITS" placeholder:"on" help:"Limit orders by address: on or off."`
	SecondFactor string `name:"require-second-factor" group:"settings" env:"HOSTPANEL_REQUIRE_SECOND_FACTOR" placeholder:"off" help:"Superusers need a second factor to do anything: on or off."`

	KeepBodies          string `name:"keep-webhook-bodies" group:"settings" env:"HOSTPANEL_KEEP_WEBHOOK_BODIES" placeholder:"90" help:"Days, 1 to 3650, for which the bodies of handled webhooks of payment providers are kept."`
	KeepAttempts        string `name:"keep-attempts" group:"settings" env:"HOSTPANEL_KEEP_ATTEMPTS" placeholder:"90" help:"Days, 1 to 3650, for which the attempts of finished runs are kept."`
	KeepDeliveries      string `name:"keep-deliveries" group:"settings" env:"HOSTPANEL_KEEP_DELIVERIES" placeholder:"30" help:"Days, 1 to 365, for which tenants see what was sent to their webhooks."`
	KeepIdempotencyKeys string `name:"keep-idempotency-keys" group:"settings" env:"HOSTPANEL_KEEP_IDEMPOTENCY_KEYS" placeholder:"1" help:"Days, 1 to 90, for which a repeated request is recognised; an order for 7 at least."`
	KeepLinks           string `name:"keep-links" group:"settings" env:"HOSTPANEL_KEEP_LINKS" placeholder:"30" help:"Days, 1 to 365, for which one-time links that have expired are recognised."`
	SessionLife         string `name:"session-life" group:"settings" env:"HOSTPANEL_SESSION_LIFE" placeholder:"12h" help:"After which a session in a browser ends, 5m to 720h."`
	SessionIdle         string `name:"session-idle" group:"settings" env:"HOSTPANEL_SESSION_IDLE" placeholder:"30m" help:"Without a visit, 5m to that of --session-life."`

	TrustedProxies string `group:"settings" env:"HOSTPANEL_TRUSTED_PROXIES" placeholder:"CIDR,…" help:"Whose X-Forwarded-For is believed."`
	CORSOrigins    string `name:"cors-origins" group:"settings" env:"HOSTPANEL_CORS_ORIGINS" placeholder:"ORIGIN,…" help:"From which browsers may call the APIs; none: only the storefront, as its keys say."`
	LogPublic      string `group:"settings" env:"HOSTPANEL_LOG_PUBLIC" placeholder:"off" help:"Who may fetch the transparency log: any caller (on), or superusers and bearers of a token (off)."`
	LogTokens      string `kong:"-" env:"HOSTPANEL_LOG_TOKENS" secret:"" placeholder:"TOKEN,…" help:"Of observers who may fetch the transparency log, 20 characters or more each."`
	LogPolicy      string `group:"settings" env:"HOSTPANEL_LOG_POLICY" placeholder:"FILE" help:"Policy (tlog-policy of C2SP) with the witnesses of the transparency log and their quorum; none: no witnesses."`
	LogWitness     string `name:"log-witness-every" group:"settings" env:"HOSTPANEL_LOG_WITNESS_EVERY" placeholder:"1m" help:"How often the witnesses are asked, 10s to 1h."`
	LooksKept      string `group:"settings" env:"HOSTPANEL_LOOKS_KEPT" placeholder:"365" help:"Days, 1 to 3650, for which is kept who has looked at the log."`
	LogLevel       string `group:"settings" env:"HOSTPANEL_LOG_LEVEL" placeholder:"info" help:"What is logged: debug, info, warn or error, and what is worse."`
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
