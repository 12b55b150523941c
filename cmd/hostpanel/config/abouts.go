package config

// Abouts are the texts of the settings, by variable.
func (*Settings) Abouts() map[string]string {
	return map[string]string{
		"DATABASE_URL": "Postgres to use; none: one of our own in the data directory.",
		"HOSTPANEL_DATABASE_CONNECTIONS": "Of each process that serves or works, 8 to 500; none: 16 and 8 for each " +
			"processor, at most 64.",
		"HOSTPANEL_DATA_DIR": "Where everything is kept.",
		"HOSTPANEL_ERASURES_COPY": "Second place for the list of erasures, on another disk or machine; none: the " +
			"data directory alone.",
		"HOSTPANEL_POSTGRES_MIRROR": "Maven repository to fetch Postgres from, where the machine has none; none: " +
			"Maven Central.",
		"HOSTPANEL_LISTEN":         "Address to serve on; port 0 is any free one.",
		"HOSTPANEL_PUBLIC_URL":     "How the world reaches us; none: http:// and the address.",
		"HOSTPANEL_SECRET_KEY":     "32 bytes; several with commas while rotating. Generated with the own Postgres.",
		"HOSTPANEL_ADMIN_EMAIL":    "First superuser, made when there is none.",
		"HOSTPANEL_ADMIN_PASSWORD": "Of the first superuser; none: a random one, printed once.",
		"HOSTPANEL_ENGINE":         "Hosting engine: sandbox or ispconfig.",
		"HOSTPANEL_COMPUTE":        "Hypervisors that make virtual machines, as name=URL, with commas; or sandbox.",
		"ISPCONFIG_URL":            "Where ISPConfig is, with its port.",
		"ISPCONFIG_USERNAME":       "ISPConfig's remote user.",
		"ISPCONFIG_PASSWORD":       "Of the remote user.",
		"ISPCONFIG_SITE_ADDRESSES": "any: sites share all addresses; named: each site has one of its own.",
		"ISPCONFIG_STORAGE_SHARE":  "Per cent of its tenant's storage that each site and database has, or whole.",
		"ISPCONFIG_SERVER_ID":      "ISPConfig's server, or web=1,database=2,dns=3,mail=4.",
		"HOSTPANEL_ENGINE_WAIT":    "How long an answer waits for the engine, up to 20s; 0: not at all.",
		"HOSTPANEL_ENGINE_COMPARE": "In which time every tenant is compared with the engine once, 1h to 720h; 0: " +
			"none is.",
		"HOSTPANEL_NAMESERVERS":      "Of DNS zones; none: ns1. and ns2. of the public host.",
		"HOSTPANEL_SITE_ADDRESSES":   "Public IP addresses of sites with the address *, for their zones; none: such zones are refused.",
		"SMTP_URL":                   "Mail server; none: a file for each mail in the outbox of the data directory.",
		"MAIL_FROM":                  "Sender of mails; none: hostpanel@ and the public host.",
		"HOSTPANEL_WEBHOOK_NETWORKS": "Networks that webhooks of tenants may reach besides the internet.",
		"HOSTPANEL_TAX_RATE":         "Percent that prices include.",
		"HOSTPANEL_TAX":              "By whose rates tax is charged: single, seller or oss.",
		"HOSTPANEL_TAX_RATES":        "Rates of countries and territories, with commas, in place of those that the program knows.",
		"HOSTPANEL_TAX_TERRITORIES":  "Territories with a tax of their own, with commas, in place of those that the program knows.",
		"HOSTPANEL_CURRENCY":         "Of plans that name none.",
		"HOSTPANEL_SELLER": "Who sells, for invoices: name, address, city, postal_code, country, tax_id, register, " +
			"iban, bic, exemption.",
		"HOSTPANEL_INVOICE_DAYS": "Days, 0 to 60, before a period begins, when its invoice is issued.",
		"HOSTPANEL_CHARGE_DAYS": "Days after the first refused charge of a saved payment method, when it is charged " +
			"again.",
		"HOSTPANEL_REMINDER_DAYS": "Days after the due date of an invoice, before it if negative, when its customer " +
			"is reminded.",
		"HOSTPANEL_SUSPEND_DAYS":   "Days, 1 to 365, after the due date, when the service is suspended.",
		"HOSTPANEL_END_DAYS":       "Days, 1 to 365, after its suspension, when the service ends.",
		"HOSTPANEL_LANGUAGE":       "Of people, orders and widgets that name none: es or en.",
		"HOSTPANEL_TRAFFIC_EXCESS": "What happens to a virtual server whose traffic of the month is used up: tell, slow or stop.",
		"HOSTPANEL_DISPUTES":       "What a disputed payment does to its service: suspend it, or notify operators only.",
		"HOSTPANEL_LATE_PAYMENTS":  "What money for an expired order does: reopen it, or refund.",
		"HOSTPANEL_FISCAL_YEARS": "Years, 1 to 30, after the year of issue, when buyers' data on invoices is " +
			"destroyed.",
		"HOSTPANEL_UNUSED_TIME": "Whether paid time that is not used is refunded when a subscription is cancelled at " +
			"once: keep or refund.",
		"HOSTPANEL_ADDRESS_REST":          "Days, 1 to 365, for which the address of a machine that has gone is given to no other.",
		"HOSTPANEL_REFUND_GRACE":          "Days, 0 to 90, for which a service that has ended is kept.",
		"HOSTPANEL_ABUSE_LIMITS":          "Limit orders by address: on or off.",
		"HOSTPANEL_REQUIRE_SECOND_FACTOR": "Superusers need a second factor to do anything: on or off.",
		"HOSTPANEL_KEEP_WEBHOOK_BODIES": "Days, 1 to 3650, for which the bodies of handled webhooks of payment " +
			"providers are kept.",
		"HOSTPANEL_KEEP_ATTEMPTS":   "Days, 1 to 3650, for which the attempts of finished runs are kept.",
		"HOSTPANEL_KEEP_DELIVERIES": "Days, 1 to 365, for which tenants see what was sent to their webhooks.",
		"HOSTPANEL_KEEP_IDEMPOTENCY_KEYS": "Days, 1 to 90, for which a repeated request is recognised; an order for " +
			"7 at least.",
		"HOSTPANEL_KEEP_LINKS":      "Days, 1 to 365, for which one-time links that have expired are recognised.",
		"HOSTPANEL_SESSION_LIFE":    "After which a session in a browser ends, 5m to 720h.",
		"HOSTPANEL_SESSION_IDLE":    "Without a visit, 5m to that of --session-life.",
		"HOSTPANEL_SESSION_STAY":    "Days, 0 to 365, of sessions whose users chose to stay signed in; 0: no such choice.",
		"HOSTPANEL_TRUSTED_PROXIES": "Whose X-Forwarded-For is believed.",
		"HOSTPANEL_CORS_ORIGINS":    "From which browsers may call the APIs; none: only the storefront, as its keys say.",
		"HOSTPANEL_LOG_PUBLIC": "Who may fetch the transparency log: any caller (on), or superusers and bearers of a " +
			"token (off).",
		"HOSTPANEL_LOG_TOKENS": "Of observers who may fetch the transparency log, 20 characters or more each.",
		"HOSTPANEL_LOG_POLICY": "Policy (tlog-policy of C2SP) with the witnesses of the transparency log and their " +
			"quorum; none: no witnesses.",
		"HOSTPANEL_LOG_WITNESS_EVERY": "How often the witnesses are asked, 10s to 1h.",
		"HOSTPANEL_LOOKS_KEPT":        "Days, 1 to 3650, for which is kept who has looked at the log.",
		"HOSTPANEL_LOG_LEVEL":         "What is logged: debug, info, warn or error, and what is worse.",
	}
}
