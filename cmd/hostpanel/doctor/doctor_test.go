package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/adapters/compute/proxmox/proxmoxtest"
	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore/eventstoretest"
)

// canary stands wherever a secret can: no line may have it.
const canary = "canary-7f3a"

// A hoster is a panel that is well, and what a fault changes of it.
type hoster struct {
	t        *testing.T
	settings config.Settings
	world    world
	sendTest string
	fake     *ispconfigtest.Engine
}

func wellHoster(t *testing.T) *hoster {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	database := eventstoretest.Database(t, "doctor, well", func(ctx context.Context, url string) error {
		p := programtest.Open(t, url, dir, false)
		defer p.Close()
		return serve.SetUp(ctx, p, console.Console{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
	})
	bank, fake := stripetest.Start(t, stripetest.Options{}), ispconfigtest.Start(t)
	return &hoster{
		t: t, fake: fake,
		settings: config.Settings{
			DatabaseURL: database, DataDir: dir, SecretKey: programtest.SecretKey, PublicURL: "https://panel.example.com",
			Engine: "ispconfig", ISPConfigURL: fake.URL, ISPConfigUsername: ispconfigtest.User,
			ISPConfigPassword: ispconfigtest.Password, ISPConfigServerID: "1",
			Payments: append(config.Providers()[1:], &stripe.Settings{
				SecretKey:     stripetest.Key,
				WebhookSecret: stripetest.Secret, APIURL: bank.URL,
			}),
		},
		world: world{
			free:   func(string) (uint64, error) { return 100 << 30, nil },
			lookup: func(context.Context, string) ([]string, error) { return []string{"192.0.2.1"}, nil },
		},
	}
}

// failures are the lines of the checks that have failed, as an operator reads
// them.
func (h *hoster) failures() (lines []string) {
	h.t.Helper()
	var out bytes.Buffer
	tell(console.Console{Out: &out, Err: &out}, examine(h.t.Context(), h.settings, h.sendTest, h.world))
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, canary) || strings.Contains(line, programtest.SecretKey) {
			h.t.Errorf("a secret is shown: %s", line)
		}
		if strings.HasPrefix(line, failed) {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestAFreshDemoIsWell(t *testing.T) {
	p := programtest.Demo(t)
	must(t, os.Chmod(p.Config.DataDir, 0o700))
	s := config.Settings{
		DatabaseURL: p.Config.DatabaseURL, DataDir: p.Config.DataDir, SecretKey: programtest.SecretKey,
		PublicURL: "http://127.0.0.1:8080",
	}
	for _, f := range examine(t.Context(), s, "", outside) {
		if f.State != ok {
			t.Errorf("%+v", f)
		}
	}
}

func TestTheResultIsAnExitCodeAndJSON(t *testing.T) {
	h := wellHoster(t)
	var out bytes.Buffer
	c := console.Console{Out: &out, Err: &out}
	h.settings.NameServers = "ns1.invalid"
	if err := (Command{JSON: true}).Run(t.Context(), h.settings, c); c.Complain(err) != console.Failed {
		t.Errorf("it ends with %v", err)
	}
	var found []Finding
	if err := json.Unmarshal(out.Bytes(), &found); err != nil || len(found) < 12 || found[len(found)-1].State != failed {
		t.Errorf("%v: %s", err, out.String())
	}
}

// A hypervisor is asked for its hosts; what its token is stays untold.
func TestEachHypervisorIsExamined(t *testing.T) {
	h, pve := wellHoster(t), proxmoxtest.Start()
	defer pve.Close()
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte(proxmoxtest.Secret), 0o600))
	h.settings.Compute = "paper=sandbox:,pve=proxmox://" + proxmoxtest.Token + "@" + strings.TrimPrefix(pve.URL(), "https://") +
		"/?storage=local-lvm&fingerprint=" + pve.Fingerprint() + "&secret_file=" + secret
	says := func() (all string) {
		for _, f := range examine(t.Context(), h.settings, "", h.world) {
			if f.Check == "hypervisors" {
				all += f.State + " " + f.Says + ": " + f.Mend + "\n"
			}
		}
		return all
	}
	if all := says(); !strings.Contains(all, "ok paper is the sandbox") || !strings.Contains(all, "ok pve answers: ") {
		t.Error(all)
	}
	must(t, os.WriteFile(secret, []byte("canary-1"), 0o600))
	all := says()
	if !strings.Contains(all, "failed pve: ") || !strings.Contains(all, "HOSTPANEL_COMPUTE") || strings.Contains(all, "canary") {
		t.Error(all)
	}
	pve.Close()
	if all := says(); !strings.Contains(all, "failed pve: ") || !strings.Contains(all, "start it") {
		t.Error(all)
	}
}

func TestATestMailIsSentWhenItIsAskedFor(t *testing.T) {
	h := wellHoster(t)
	h.sendTest = "ana@customer.example"
	if lines := h.failures(); len(lines) > 0 {
		t.Fatal(lines)
	}
	mails, err := filepath.Glob(filepath.Join(h.settings.DataDir, "outbox", "*.eml"))
	if err != nil || len(mails) != 1 {
		t.Fatalf("%v, %v", mails, err)
	}
	if text, err := os.ReadFile(mails[0]); err != nil || !bytes.Contains(text, []byte("ana@customer.example")) {
		t.Errorf("%s, %v", text, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
