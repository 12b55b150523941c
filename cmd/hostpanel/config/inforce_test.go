package config

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hostpanel/domain/operations"
)

// A text that stands in any setting is found nowhere if it is a secret, or who signs in at
// an address.
func TestNoSettingInForceTellsASecret(t *testing.T) {
	const canary = "c4nary-k7"
	for _, s := range All() {
		for _, text := range []string{
			"scheme://user:" + canary + "@host.example/path", "http://a.example,https://" + canary +
				"@b.example", "https://x:pa/" + canary + "@host.example",
			"https://host.example/?token=" + canary,
		} {
			if s.Secret {
				text = canary
			}
			c := given(t, s.Variable, text)
			all := c.InForce("https://panel.example", "panel@example.com")
			for _, one := range all {
				if strings.Contains(fmt.Sprintf("%+v", one), canary) {
					t.Errorf("%s, given as %q, is told by %s: %q", s.Variable, text, one.Name, one.Value)
				}
				if one.IsSet != (one.Name == s.Variable) || one.IsSecret && one.Value != "" {
					t.Errorf("%s given: %+v", s.Variable, one)
				}
			}
		}
	}
}

// given is a configuration in which a text stands wherever the setting does.
func given(t *testing.T, variable, text string) *Config {
	t.Helper()
	s, isSecret := Settings{Payments: Providers()}, false
	eachField(&s, func(one Setting, at reflect.Value) {
		if one.Variable == variable {
			at.SetString(text)
			isSecret = one.Secret
		}
	})
	if isSecret {
		return &Config{given: s, DatabaseURL: text, secretKey: text, AdminPassword: text, SMTPURL: text}
	}
	return &Config{
		given: s, DataDir: text, Listen: text, AdminEmail: text, NameServers: []string{text}, SiteAddresses: []string{text},
		Currency: text,
		Language: text,
	}
}

// What is in force is what was given, or else the default that the documentation names.
func TestTheSettingsInForceAreCompleted(t *testing.T) {
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	s := Settings{
		DataDir: "/srv/panel", Connections: "12", TaxRate: "7", SecretKey: key,
		DatabaseURL: "postgres://u:secret@db/panel", Currency: "CHF", Seller: `{"name":"Hoster SL","address":"Calle ` +
			`Mayor 1","city":"Madrid","country":"ES"}`, TrustedProxies: "10.0.0.0/8",
	}
	for _, demo := range []bool{false, true} {
		c, err := New(s, demo)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]operations.Setting{}
		for _, one := range c.InForce("https://panel.example", "panel@example.com") {
			values[one.Name] = one
		}
		if len(values) != len(All()) {
			t.Errorf("%d of %d settings", len(values), len(All()))
		}
		for name, want := range map[string]string{
			"HOSTPANEL_DATA_DIR": "/srv/panel", "HOSTPANEL_DATABASE_CONNECTIONS": "12", "HOSTPANEL_TAX_RATE": "7.00",
			"HOSTPANEL_CURRENCY": "CHF", "HOSTPANEL_LISTEN": "127.0.0.1:8080",
			"HOSTPANEL_PUBLIC_URL": "https://panel.example", "MAIL_FROM": "panel@example.com", "HOSTPANEL_ENGINE": "sandbox",
			"HOSTPANEL_ENGINE_COMPARE": "24h", "HOSTPANEL_LOG_WITNESS_EVERY": "1m",
			"HOSTPANEL_TRUSTED_PROXIES": "10.0.0.0/8", "HOSTPANEL_CORS_ORIGINS": "", "HOSTPANEL_LOG_LEVEL": "info",
			"HOSTPANEL_REFUND_GRACE": "7", "HOSTPANEL_ADDRESS_REST": "7", "HOSTPANEL_LOOKS_KEPT": "365",
			"HOSTPANEL_COMPUTE": "sandbox", "HOSTPANEL_ENGINE_WAIT": "3s", "HOSTPANEL_DISPUTES": "suspend",
			"HOSTPANEL_TRAFFIC_EXCESS": "tell",
			"HOSTPANEL_LATE_PAYMENTS":  "reopen",
			"HOSTPANEL_SELLER": `{"name":"Hoster SL","address":"Calle Mayor 1","city":"Madrid","postal_code":"",` +
				`"country":"ES","tax_id":"","register":"","iban":"","bic":""}`,
			"HOSTPANEL_ABUSE_LIMITS": onOrOff(!demo), "HOSTPANEL_TEST_PAYMENTS": onOrOff(demo), "HOSTPANEL_SECRET_KEY": "",
			"DATABASE_URL": "",
		} {
			if got := values[name]; got.Value != want {
				t.Errorf("%s in a demo %t: %q, not %q", name, demo, got.Value, want)
			}
		}
		if !values["DATABASE_URL"].IsSet || values["ISPCONFIG_PASSWORD"].IsSet {
			t.Error("a secret is set, and is not told to be, or the other way round")
		}
	}
}
