package config

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"hostpanel/adapters/payments/test"
	"hostpanel/cmd/hostpanel/console"
)

// parsed is what the program makes of flags and the environment.
func parsed(t *testing.T, args ...string) Settings {
	t.Helper()
	var all struct{ Settings }
	parser, err := kong.New(&all)
	if err == nil {
		_, err = parser.Parse(args)
	}
	if err == nil {
		err = all.ReadSecrets()
	}
	if err != nil {
		t.Fatal(err)
	}
	return all.Settings
}

func TestAFlagWinsOverTheEnvironmentAndThatOverTheDefault(t *testing.T) {
	for _, c := range []struct {
		flag, variable, want string
	}{
		{"", "", "127.0.0.1:8080"},
		{"", "127.0.0.1:1", "127.0.0.1:1"},
		{"127.0.0.1:2", "127.0.0.1:1", "127.0.0.1:2"},
		{"127.0.0.1:2", "", "127.0.0.1:2"},
	} {
		t.Setenv("HOSTPANEL_LISTEN", c.variable)
		var args []string
		if c.flag != "" {
			args = []string{"--listen", c.flag}
		}
		got, err := New(parsed(t, args...), false)
		if err != nil || got.Listen != c.want {
			t.Errorf("flag %q, variable %q: %q, %v", c.flag, c.variable, got.Listen, err)
		}
	}
}

func TestASecretMayStandInAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("from the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOSTPANEL_ADMIN_PASSWORD_FILE", file)
	if got := parsed(t).AdminPassword; got != "from the file" {
		t.Errorf("from the file alone: %q", got)
	}
	t.Setenv("HOSTPANEL_ADMIN_PASSWORD", "from the variable")
	if got := parsed(t).AdminPassword; got != "from the variable" {
		t.Errorf("the variable should win: %q", got)
	}
	t.Setenv("HOSTPANEL_LISTEN_FILE", file)
	if got := parsed(t).Listen; got != "" {
		t.Errorf("only secrets come from files, not %q", got)
	}
}

func TestAMistakeInASettingNamesIt(t *testing.T) {
	for _, c := range []struct {
		set  Settings
		says string
	}{
		{Settings{Listen: "8080"}, "HOSTPANEL_LISTEN"},
		{Settings{Listen: "127.0.0.1:99999"}, "HOSTPANEL_LISTEN"},
		{Settings{Listen: "127.0.0.1:-1"}, "HOSTPANEL_LISTEN"},
		{Settings{DatabaseURL: "mysql://h/d", SecretKey: "x"}, "DATABASE_URL"},
		{Settings{DatabaseURL: "postgres://u:canary@h:99999/d", SecretKey: "x"}, "DATABASE_URL"},
		{Settings{PostgresMirror: "maven.example.com"}, "HOSTPANEL_POSTGRES_MIRROR"},
		{Settings{PublicURL: "panel.example.com"}, "HOSTPANEL_PUBLIC_URL"},
		{Settings{PublicURL: "https://panel.example.com/below"}, "HOSTPANEL_PUBLIC_URL"},
		{Settings{PublicURL: "ftp://panel.example.com"}, "HOSTPANEL_PUBLIC_URL"},
		{Settings{Engine: "plesk"}, "HOSTPANEL_ENGINE"},
		{Settings{Compute: "proxmox"}, "HOSTPANEL_COMPUTE"},
		{Settings{NameServers: "ns1.example.com,com"}, "HOSTPANEL_NAMESERVERS"},
		{Settings{SiteAddresses: "192.0.2.10,web.example.com"}, "HOSTPANEL_SITE_ADDRESSES"},
		{Settings{SiteAddresses: "0.0.0.0"}, "HOSTPANEL_SITE_ADDRESSES"},
		{Settings{EngineWait: "3"}, "HOSTPANEL_ENGINE_WAIT"},
		{Settings{EngineWait: "21s"}, "HOSTPANEL_ENGINE_WAIT"},
		{Settings{EngineCompare: "1m"}, "HOSTPANEL_ENGINE_COMPARE"},
		{Settings{EngineCompare: "daily"}, "HOSTPANEL_ENGINE_COMPARE"},
		{Settings{Payments: kong.Plugins{&test.Settings{Payments: "yes"}}}, "HOSTPANEL_TEST_PAYMENTS"},
		{Settings{AbuseLimits: "1"}, "HOSTPANEL_ABUSE_LIMITS"},
		{Settings{SecondFactor: "yes"}, "HOSTPANEL_REQUIRE_SECOND_FACTOR"},
		{Settings{FiscalYears: "0"}, "HOSTPANEL_FISCAL_YEARS"},
		{Settings{FiscalYears: "31"}, "HOSTPANEL_FISCAL_YEARS"},
		{Settings{TaxRate: "much"}, "HOSTPANEL_TAX_RATE"},
		{Settings{TaxRate: "-1"}, "HOSTPANEL_TAX_RATE"},
		{Settings{TaxRate: "101"}, "HOSTPANEL_TAX_RATE"},
		{Settings{TaxRate: "21.005"}, "HOSTPANEL_TAX_RATE"},
		{Settings{Tax: "eu"}, "HOSTPANEL_TAX is"},
		{Settings{Tax: "oss"}, "HOSTPANEL_TAX: oss needs a HOSTPANEL_SELLER"},
		{
			Settings{Tax: "oss", Seller: strings.Replace(aSeller, `"ES"`, `"MX"`, 1)},
			"HOSTPANEL_TAX: oss needs a HOSTPANEL_SELLER",
		},
		{
			Settings{Tax: "seller", Seller: strings.Replace(aSeller, "ESB12345678", "B12345678", 1)},
			"HOSTPANEL_TAX: seller needs a HOSTPANEL_SELLER",
		},
		{Settings{TaxRates: "Portugal=23"}, "HOSTPANEL_TAX_RATES"},
		{Settings{Territories: "Madeira"}, "HOSTPANEL_TAX_TERRITORIES"},
		{Settings{Tax: "seller", Seller: strings.Replace(aSeller, `"country"`, `"postal_code":"35001","country"`, 1)}, "HOSTPANEL_TAX"},
		{Settings{Currency: "eur"}, "HOSTPANEL_CURRENCY"},
		{Settings{Seller: "Hoster SL"}, "HOSTPANEL_SELLER is not a JSON object"},
		{Settings{Seller: aSeller + "{}"}, "HOSTPANEL_SELLER is not a JSON object"},
		{Settings{Seller: `{"name":"Hoster SL","vat":"ES1"}`}, `unknown field "vat"`},
		{Settings{Seller: `{"name":7}`}, "HOSTPANEL_SELLER is not a JSON object of texts"},
		{Settings{Seller: "null"}, "HOSTPANEL_SELLER: name"},
		{Settings{Seller: strings.Replace(aSeller, "Hoster SL", "", 1)}, "HOSTPANEL_SELLER: name"},
		{Settings{Seller: strings.Replace(aSeller, "Calle Mayor 1", "", 1)}, "HOSTPANEL_SELLER: address"},
		{Settings{Seller: strings.Replace(aSeller, "Madrid", "", 1)}, "HOSTPANEL_SELLER: city"},
		{Settings{Seller: strings.Replace(aSeller, `"ES"`, `"Spain"`, 1)}, "HOSTPANEL_SELLER: country"},
		{Settings{Connections: "7"}, "HOSTPANEL_DATABASE_CONNECTIONS"},
		{Settings{Connections: "many"}, "HOSTPANEL_DATABASE_CONNECTIONS"},
		{Settings{Language: "fr"}, "HOSTPANEL_LANGUAGE"},
		{Settings{Disputes: "ignore"}, "HOSTPANEL_DISPUTES"},
		{Settings{Excess: "remove"}, "HOSTPANEL_TRAFFIC_EXCESS"},
		{Settings{LatePayments: "keep"}, "HOSTPANEL_LATE_PAYMENTS"},
		{Settings{AddressRest: "0"}, "HOSTPANEL_ADDRESS_REST"},
		{Settings{AddressRest: "366"}, "HOSTPANEL_ADDRESS_REST"},
		{Settings{RefundGrace: "7d"}, "HOSTPANEL_REFUND_GRACE"},
		{Settings{RefundGrace: "91"}, "HOSTPANEL_REFUND_GRACE"},
		{Settings{RefundGrace: "-1"}, "HOSTPANEL_REFUND_GRACE"},
		{Settings{InvoiceDays: "61"}, "HOSTPANEL_INVOICE_DAYS"},
		{Settings{InvoiceDays: "7d"}, "HOSTPANEL_INVOICE_DAYS"},
		{Settings{SuspendDays: "0"}, "HOSTPANEL_SUSPEND_DAYS"},
		{Settings{EndDays: "366"}, "HOSTPANEL_END_DAYS"},
		{Settings{ReminderDays: "3,3"}, "HOSTPANEL_REMINDER_DAYS"},
		{Settings{ReminderDays: "7,often"}, "HOSTPANEL_REMINDER_DAYS"},
		{Settings{ReminderDays: "-61"}, "HOSTPANEL_REMINDER_DAYS"},
		{Settings{ChargeDays: "0"}, "HOSTPANEL_CHARGE_DAYS"},
		{Settings{ChargeDays: "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"}, "HOSTPANEL_CHARGE_DAYS"},
		{Settings{LooksKept: "0"}, "HOSTPANEL_LOOKS_KEPT"},
		{Settings{LooksKept: "3651"}, "HOSTPANEL_LOOKS_KEPT"},
		{Settings{LooksKept: "1y"}, "HOSTPANEL_LOOKS_KEPT"},
		{Settings{TrustedProxies: "10.0.0.0/8,everybody"}, "HOSTPANEL_TRUSTED_PROXIES"},
		{Settings{CORSOrigins: "*"}, "HOSTPANEL_CORS_ORIGINS"},
		{Settings{CORSOrigins: "https://app.example/path"}, "HOSTPANEL_CORS_ORIGINS"},
		{Settings{WebhookNetworks: "127.0.0.0/8,home"}, "HOSTPANEL_WEBHOOK_NETWORKS"},
		{Settings{DatabaseURL: "postgres://h/d"}, "HOSTPANEL_SECRET_KEY"},
		{Settings{AdminPassword: "short"}, "HOSTPANEL_ADMIN_PASSWORD"},
		{Settings{LogPolicy: "/nowhere/policy"}, "HOSTPANEL_LOG_POLICY"},
		{Settings{LogPolicy: "checks_test.go"}, "HOSTPANEL_LOG_POLICY"},
		{Settings{LogWitness: "often"}, "HOSTPANEL_LOG_WITNESS_EVERY"},
		{Settings{LogWitness: "9s"}, "HOSTPANEL_LOG_WITNESS_EVERY"},
		{Settings{LogWitness: "2h"}, "HOSTPANEL_LOG_WITNESS_EVERY"},
		{Settings{ErasuresCopy: "erasures"}, "HOSTPANEL_ERASURES_COPY"},
		{Settings{ErasuresCopy: "/"}, "HOSTPANEL_ERASURES_COPY"},
		{Settings{DataDir: "/srv/panel", ErasuresCopy: "/srv/panel//erasures"}, "HOSTPANEL_ERASURES_COPY"},
		{Settings{KeepBodies: "0"}, "HOSTPANEL_KEEP_WEBHOOK_BODIES"},
		{Settings{KeepAttempts: "90d"}, "HOSTPANEL_KEEP_ATTEMPTS"},
		{Settings{KeepDeliveries: "366"}, "HOSTPANEL_KEEP_DELIVERIES"},
		{Settings{KeepIdempotencyKeys: "-1"}, "HOSTPANEL_KEEP_IDEMPOTENCY_KEYS"},
		{Settings{KeepLinks: "1.5"}, "HOSTPANEL_KEEP_LINKS"},
		{Settings{SessionLife: "12"}, "HOSTPANEL_SESSION_LIFE"},
		{Settings{SessionLife: "721h"}, "HOSTPANEL_SESSION_LIFE"},
		{Settings{SessionStay: "366"}, "HOSTPANEL_SESSION_STAY"},
		{Settings{SessionIdle: "1m"}, "HOSTPANEL_SESSION_IDLE"},
		{Settings{SessionLife: "10m", SessionIdle: "11m"}, "HOSTPANEL_SESSION_IDLE"},
		{Settings{LogLevel: "loud"}, "HOSTPANEL_LOG_LEVEL"},
	} {
		_, err := New(c.set, false)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%+v: %v should speak of %s", c.set, err, c.says)
		}
		if code := (console.Console{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}).Complain(err); code != console.Usage {
			t.Errorf("%+v ends with %d", c.set, code)
		}
	}
}

func TestZonesHaveNameServers(t *testing.T) {
	for _, c := range []struct {
		set  Settings
		want string
	}{
		{Settings{NameServers: "NS1.example.net, ns2.example.net.,"}, "ns1.example.net. ns2.example.net."},
		{Settings{PublicURL: "https://panel.example.com:8443"}, "ns1.panel.example.com. ns2.panel.example.com."},
		{Settings{Listen: "panel.example.com:80"}, "ns1.panel.example.com. ns2.panel.example.com."},
		{Settings{PublicURL: "https://192.0.2.1"}, "ns1.hostpanel.invalid. ns2.hostpanel.invalid."},
		{Settings{PublicURL: "http://localhost:8080"}, "ns1.hostpanel.invalid. ns2.hostpanel.invalid."},
		{Settings{Listen: "[::]:8080"}, "ns1.hostpanel.invalid. ns2.hostpanel.invalid."},
		{Settings{Listen: ":8080"}, "ns1.hostpanel.invalid. ns2.hostpanel.invalid."},
		{Settings{}, "ns1.hostpanel.invalid. ns2.hostpanel.invalid."},
	} {
		if got, err := New(c.set, false); err != nil || strings.Join(got.NameServers, " ") != c.want {
			t.Errorf("%+v: %v, %v", c.set, got.NameServers, err)
		}
	}
}

func TestSitesHavePublicAddressesThatAreSet(t *testing.T) {
	for _, c := range []struct {
		given string
		demo  bool
		want  string
	}{
		{"192.0.2.1, 2001:DB8::1,", false, "192.0.2.1 2001:db8::1"},
		{"", false, ""},
		{"", true, "192.0.2.10 2001:db8::10"},
		{"192.0.2.1", true, "192.0.2.1"},
	} {
		if got, err := New(Settings{SiteAddresses: c.given}, c.demo); err != nil || strings.Join(got.SiteAddresses, " ") != c.want {
			t.Errorf("%+v: %v, %v", c, got.SiteAddresses, err)
		}
	}
}

func TestADemoIsQuietOnATerminal(t *testing.T) {
	for _, c := range []struct {
		given          string
		demo, terminal bool
		want           slog.Level
	}{
		{"", true, true, slog.LevelWarn},
		{"", true, false, slog.LevelInfo},
		{"", false, true, slog.LevelInfo},
		{"info", true, true, slog.LevelInfo},
		{"debug", true, true, slog.LevelDebug},
	} {
		cfg, err := New(Settings{LogLevel: c.given}, c.demo)
		if err != nil || cfg.LevelOn(c.terminal) != c.want {
			t.Errorf("%+v: %v, %v", c, cfg.LevelOn(c.terminal), err)
		}
	}
}

func TestOriginsOfBrowsersAreAList(t *testing.T) {
	c, err := New(Settings{CORSOrigins: " https://App.example , *.example.com,localhost,"}, false)
	if got := strings.Join(c.Origins, " "); err != nil || got != "https://app.example *.example.com localhost" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestASettingOfAPartThatIsNotThereIsRefused(t *testing.T) {
	for _, name := range []string{"DATABASE_READ_URL", "NATS_URL", "NATS_URL_FILE"} {
		if _, err := checkEnvironment([]string{name + "=x"}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if warnings, err := checkEnvironment([]string{"NATS_URL=", "PATH=/bin"}); err != nil || len(warnings) > 0 {
		t.Errorf("an empty setting is none: %v, %v", warnings, err)
	}
}

func TestVariablesThatHaveNoEffectGiveAWarning(t *testing.T) {
	warnings, err := checkEnvironment([]string{
		"HOSTPANEL_LITSEN=127.0.0.1:1", "HOSTPANEL_LISTEN=127.0.0.1:1", "HOSTPANEL_SECRET_KEY_FILE=/k",
		"HOSTPANEL_LISTEN_FILE=/l",
		"PROXMOX_NODE=a", "PROXMOX_URL=https://b.example",
	})
	want := "HOSTPANEL_LISTEN_FILE is not a setting of hostpanel\n" +
		"HOSTPANEL_LITSEN is not a setting of hostpanel: did you mean HOSTPANEL_LISTEN?\nPROXMOX_NODE has no effect in " +
		"this version\nPROXMOX_URL has no effect in this version"
	if got := strings.Join(warnings, "\n"); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestAMisspeltVariableIsComparedWithOurs(t *testing.T) {
	for set, want := range map[string]string{
		"HOSTPANEL_LISTN=x":              "did you mean HOSTPANEL_LISTEN?",
		"HOSTPANEL_PUBLIC_UR=x":          "did you mean HOSTPANEL_PUBLIC_URL?",
		"HOSTPANEL_BEST_HOSTER=x":        "HOSTPANEL_BEST_HOSTER is not a setting of hostpanel",
		"STRIPE_SECRET_KEYS=x":           "did you mean STRIPE_SECRET_KEY?",
		"ISPCONFIG_USER_NAME=x":          "did you mean ISPCONFIG_USERNAME?",
		"STRIPE_CLI_TELEMETRY_OPTOUT=1":  "",
		"SMTPD=x":                        "",
		"HOSTPANEL_SECRET_KEY_FILE=/key": "",
	} {
		warnings, err := checkEnvironment([]string{set})
		if got := strings.Join(warnings, "\n"); err != nil || !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, %v; want %q", set, got, err, want)
		}
	}
}

func TestASecretUnderAMisspeltNameIsRefused(t *testing.T) {
	for name, meant := range map[string]string{
		"HOSTPANEL_SECRETKEY":       "HOSTPANEL_SECRET_KEY",
		"HOSTPANEL_SECRET_KEYFILE":  "HOSTPANEL_SECRET_KEY_FILE",
		"HOSTPANEL_ADMIN_PASSWROD":  "HOSTPANEL_ADMIN_PASSWORD",
		"HOSTPANEL_ADMIN_PASS_FILE": "",
	} {
		_, err := checkEnvironment([]string{name + "=canary-value"})
		if meant == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), meant) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v should name %s, and not the value", name, err, meant)
		}
	}
}

func TestASecretIsNoFlag(t *testing.T) {
	for _, s := range All() {
		flag := flagOf(strings.TrimPrefix(s.Variable, "HOSTPANEL_"))
		err := RefuseSecretFlags([]string{"serve", flag + "=canary-value"})
		if refused := err != nil; refused != s.Secret {
			t.Errorf("%s is a secret: %t, %v", flag, s.Secret, err)
		}
		if err != nil && (!strings.Contains(err.Error(), s.Variable+"_FILE") || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestHTTPToTheWorldAndSandboxesGiveAWarning(t *testing.T) {
	for _, c := range []struct {
		url  string
		demo bool
		want []string
	}{
		{"http://panel.example.com", true, []string{"HOSTPANEL_PUBLIC_URL is http"}},
		{"https://panel.example.com", true, nil},
		{"http://127.0.0.1:8080", true, nil},
		{"http://localhost/", true, nil},
		{"http://[::1]:80", false, []string{"HOSTPANEL_ENGINE is the sandbox", "HOSTPANEL_COMPUTE is the sandbox"}},
	} {
		got, err := New(Settings{PublicURL: c.url}, c.demo)
		if err != nil || len(got.warnings) != len(c.want) {
			t.Errorf("%s, demo %t: %v, %v", c.url, c.demo, got.warnings, err)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(got.warnings[i], want) {
				t.Errorf("%s, demo %t: %q", c.url, c.demo, got.warnings[i])
			}
		}
	}
}

func TestTheDemoHasDefaultsOfItsOwn(t *testing.T) {
	for _, c := range []struct {
		demo, test, abuse bool
		tax               string
	}{{true, true, false, "21.00"}, {false, false, true, "0.00"}} {
		got, err := New(Settings{}, c.demo)
		if err != nil || got.Payments[2].Offered != c.test || got.AbuseLimits != c.abuse ||
			got.Policy.TaxRate.StringFixed(2) != c.tax || got.Currency != "EUR" {
			t.Errorf("demo %t: %+v, %v", c.demo, got, err)
		}
	}
	if got, err := New(Settings{}, false); err != nil || got.SecondFactor {
		t.Errorf("a second factor is required without the setting: %v", err)
	}
	if got, err := New(Settings{SecondFactor: "on"}, false); err != nil || !got.SecondFactor {
		t.Errorf("no second factor is required with the setting: %v", err)
	}
	if got, err := New(Settings{TaxRate: "19", AbuseLimits: "on"}, true); err != nil ||
		got.Policy.TaxRate.String() != "19" || !got.AbuseLimits {
		t.Errorf("what is set should win in the demo too: %+v, %v", got, err)
	}
	if _, err := New(Settings{Payments: kong.Plugins{&test.Settings{Payments: "off"}}}, true); err == nil {
		t.Error("a demo without payments was accepted")
	}
}

func TestEverySettingIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(append(Variables(), later...), idle...) {
		group, _, _ := strings.Cut(name, "_")
		name = strings.TrimSuffix(name, "_FILE")
		if !strings.Contains(string(text), "`"+name+"`") && !strings.Contains(string(text), "`"+group+"_*`") {
			t.Errorf("%s is not in docs/configuration.md", name)
		}
	}
}

func TestEverySettingSaysWhatItIsAbout(t *testing.T) {
	for _, s := range All() {
		if s.Help == "" {
			t.Errorf("%s is not among the Abouts of its settings", s.Variable)
		}
	}
}
