package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hostpanel/cmd/hostpanel/redact"
	"hostpanel/domain/operations"
)

// inForce are the values of settings that the program has completed, by variable. Of the
// others the value is what was given.
var inForce = map[string]func(*Config) string{
	"HOSTPANEL_DATABASE_CONNECTIONS":  func(c *Config) string { return strconv.Itoa(c.Connections) },
	"HOSTPANEL_DATA_DIR":              func(c *Config) string { return c.DataDir },
	"HOSTPANEL_LISTEN":                func(c *Config) string { return c.Listen },
	"HOSTPANEL_ADMIN_EMAIL":           func(c *Config) string { return c.AdminEmail },
	"HOSTPANEL_NAMESERVERS":           func(c *Config) string { return strings.Join(c.NameServers, ", ") },
	"HOSTPANEL_SITE_ADDRESSES":        func(c *Config) string { return strings.Join(c.SiteAddresses, ", ") },
	"HOSTPANEL_TAX_RATE":              func(c *Config) string { return c.Policy.TaxRate.StringFixed(2) },
	"HOSTPANEL_CURRENCY":              func(c *Config) string { return c.Currency },
	"HOSTPANEL_SELLER":                func(c *Config) string { return sellerText(c.Policy.Seller) },
	"HOSTPANEL_LANGUAGE":              func(c *Config) string { return c.Language },
	"HOSTPANEL_ABUSE_LIMITS":          func(c *Config) string { return onOrOff(c.AbuseLimits) },
	"HOSTPANEL_REQUIRE_SECOND_FACTOR": func(c *Config) string { return onOrOff(c.SecondFactor) },
	"HOSTPANEL_LOG_PUBLIC":            func(c *Config) string { return onOrOff(c.LogAccess.Public) },
	"HOSTPANEL_LOG_LEVEL":             func(c *Config) string { return strings.ToLower(c.LogLevel.String()) },
}

// defaulted are settings whose default is what their description shows for a value.
var defaulted = []string{
	"HOSTPANEL_ENGINE", "HOSTPANEL_COMPUTE", "HOSTPANEL_TAX", "HOSTPANEL_ENGINE_WAIT", "HOSTPANEL_ENGINE_COMPARE",
	"HOSTPANEL_LOG_WITNESS_EVERY",
	"HOSTPANEL_TRAFFIC_EXCESS", "HOSTPANEL_DISPUTES", "HOSTPANEL_LATE_PAYMENTS", "HOSTPANEL_UNUSED_TIME", "HOSTPANEL_FISCAL_YEARS",
	"HOSTPANEL_REFUND_GRACE", "HOSTPANEL_ADDRESS_REST", "HOSTPANEL_LOOKS_KEPT",
	"HOSTPANEL_INVOICE_DAYS", "HOSTPANEL_REMINDER_DAYS", "HOSTPANEL_CHARGE_DAYS", "HOSTPANEL_SUSPEND_DAYS", "HOSTPANEL_END_DAYS",
	"HOSTPANEL_KEEP_WEBHOOK_BODIES", "HOSTPANEL_KEEP_ATTEMPTS", "HOSTPANEL_KEEP_DELIVERIES",
	"HOSTPANEL_KEEP_IDEMPOTENCY_KEYS", "HOSTPANEL_KEEP_LINKS",
	"HOSTPANEL_SESSION_LIFE", "HOSTPANEL_SESSION_IDLE", "HOSTPANEL_SESSION_STAY",
}

func onOrOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// InForce are all settings as this process runs with them, at a public address and with a
// sender of mails. A secret has no value, and no value has a password.
func (c *Config) InForce(publicURL, mailFrom string) (all []operations.Setting) {
	eachField(&c.given, func(s Setting, at reflect.Value) {
		one := operations.Setting{Name: s.Variable, About: s.Help, IsSecret: s.Secret, IsSet: at.String() != ""}
		if !s.Secret {
			one.Value = withoutPasswords(c.value(s, at.String(), publicURL, mailFrom))
		}
		all = append(all, one)
	})
	return all
}

func (c *Config) value(s Setting, given, publicURL, mailFrom string) string {
	switch complete := inForce[s.Variable]; {
	case s.Variable == "HOSTPANEL_PUBLIC_URL":
		return publicURL
	case s.Variable == "MAIL_FROM":
		return mailFrom
	case complete != nil:
		return complete(c)
	case given != "":
		return given
	case slices.Contains(defaulted, s.Variable):
		return s.Placeholder
	}
	return c.providerDefault(s.Variable)
}

// withoutPasswords leaves out who signs in at the addresses of a list.
func withoutPasswords(list string) string {
	parts := strings.Split(list, ",")
	for i, part := range parts {
		begin, at := strings.Index(part, "://"), strings.LastIndex(part, "@")
		if begin >= 0 && at > begin {
			parts[i] = part[:begin+3] + redact.Masked + part[at:]
		}
	}
	return redact.Mask(strings.Join(parts, ","))
}
