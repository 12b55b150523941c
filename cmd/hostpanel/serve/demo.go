package serve

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/storefront"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/wholefile"
	"hostpanel/projections"
)

// A Demo is what `serve --demo` sets up, and all that is needed to try it. It
// is kept in demo.json, which is as secret as what stands in it.
type Demo struct {
	BaseURL           string    `json:"base_url"`
	Superuser         Login     `json:"superuser"`
	TenantAdmin       Login     `json:"tenant_admin"`
	APIKey            string    `json:"api_key"`         // 6000 requests a minute
	APIKeyDefault     string    `json:"api_key_default"` // 60
	WidgetID          string    `json:"widget_id"`
	Plans             demoPlans `json:"plans"`
	TestWebhookSecret string    `json:"test_webhook_secret"`
	Shop              demoShop  `json:"shop"`
}

// A demoShop is the website with an order form that customers come back to.
type demoShop struct {
	URL      string `json:"url"`
	WidgetID string `json:"widget_id"`
	Widget   int64  `json:"widget"`
}

// A Login is a user name with its password.
type Login struct {
	Username string `json:"username"`
	Password string `json:"password"`
	Tenant   int64  `json:"tenant,omitempty"`
}

type demoPlans struct {
	Hosting int64 `json:"hosting"`
	VPS     int64 `json:"vps"`
	SaaS    int64 `json:"saas"`
}

// SeedDemo sets the demo up with the first start and leaves it alone with
// every later one, but for where it is reached. One process at a time does so:
// the file of another would name accounts that the log does not have.
func SeedDemo(ctx context.Context, p *program.Program) error {
	tx, err := p.Pool.Begin(ctx)
	if err != nil {
		return fmt.Errorf("set the demo up: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	_, err = tx.Exec(ctx, `set local idle_in_transaction_session_timeout = 0; select pg_advisory_xact_lock(hashtext('hostpanel demo'))`)
	if err != nil {
		return fmt.Errorf("wait for another process that sets the demo up: %w", err)
	}
	return seedDemo(ctx, p)
}

// seedDemo writes the file first: if the program dies before the log has what
// stands in it, the next start makes both anew.
func seedDemo(ctx context.Context, p *program.Program) error {
	path := filepath.Join(p.Config.DataDir, "demo.json")
	d, err := ReadDemo(path)
	if err != nil {
		return err
	}
	known, err := knows(ctx, p, d)
	if err != nil {
		return err
	}
	if !known {
		if d, err = firstDemo(ctx, p, path); err != nil {
			return err
		}
	}
	return d.openShop(ctx, p, path)
}

// firstDemo makes a demo with all that it has.
func firstDemo(ctx context.Context, p *program.Program, path string) (Demo, error) {
	if err := mustBeFresh(ctx, p); err != nil {
		return Demo{}, err
	}
	d, commands, rows, err := newDemo(ctx, p)
	if err != nil {
		return d, err
	}
	if err := d.write(path); err != nil {
		return d, err
	}
	if _, err := p.Store.ExecuteWith(ctx, domain.Metadata{Actor: "system:demo"}, rows, commands...); err != nil {
		return d, fmt.Errorf("set the demo up: %w", err)
	}
	return d, nil
}

// knows tells whether the log has what stands in the file.
func knows(ctx context.Context, p *program.Program, d Demo) (bool, error) {
	key, ok := storefront.ParseKey(d.APIKey)
	if !ok {
		return false, nil
	}
	events, err := p.Store.Read(ctx, domain.Stream{Category: storefront.KeyCategory, ID: key.ID})
	return len(events) > 0, err
}

// mustBeFresh refuses to set a demo up among other data.
func mustBeFresh(ctx context.Context, p *program.Program) error {
	superusers, err := p.Tables.For(projections.System).Accounts().Superusers(ctx)
	if err == nil && len(superusers) > 0 {
		err = fmt.Errorf("there is a superuser already, but %s does not tell of a demo: give the demo a data "+
			"directory (and a database) of its own",
			filepath.Join(p.Config.DataDir, "demo.json"))
	}
	return err
}

// newDemo draws the secrets and numbers of a demo, and what has to be done for
// it to be true.
func newDemo(ctx context.Context, p *program.Program) (d Demo, commands []domain.Command, rows []eventstore.TxStatement, err error) {
	ids, err := p.Store.NextIDs(ctx, "user", "user", "tenant", "plan", "plan", "plan", "widget", packages.Name)
	if err != nil {
		return d, nil, nil, err
	}
	superuser, admin, tenant := ids[0], ids[1], ids[2]
	d = Demo{
		BaseURL:       p.PublicURL(),
		Superuser:     Login{Username: p.Config.AdminEmail, Password: cmp.Or(p.Config.AdminPassword, newPassword())},
		TenantAdmin:   Login{Username: "customer@demo.example", Password: newPassword(), Tenant: tenant},
		APIKey:        storefront.DrawKey(storefront.Test, rand.Read),
		APIKeyDefault: storefront.DrawKey(storefront.Test, rand.Read), WidgetID: newWidgetID(),
		Plans:             demoPlans{ids[3], ids[4], ids[5]},
		TestWebhookSecret: p.Hosted().WebhookSecret(),
	}
	s := seeder{program: p, at: p.Store.Clock().Now().UTC()}
	s.user(ctx, superuser, d.Superuser, "Demo operator", true)
	s.user(ctx, admin, d.TenantAdmin, "Demo customer", false)
	s.tenant(ctx, tenant, "office@demo.example")
	s.add(account.GrantMembership{User: admin, Tenant: tenant, Role: account.Admin, At: s.at})
	s.pack(ids[7], `{"name":"Web S","slug":"web-s","max_sites":1,"max_databases":2,"max_storage_mb":10240,"max_mailboxes":10,
		"max_mail_domains":1,
		"max_dns_zones":1,"max_ftp_accounts":2,"max_shell_users":2,"max_cron_jobs":5}`)
	s.plan(d.Plans.Hosting, `{"name":"Web S","package":`+strconv.FormatInt(ids[7], 10)+`,"description":"One website with mail.",
		"description_es":"Un sitio web con correo.","price":"2.99","resource_type":"hosting","position":1,
		"quota_sites":1,"quota_databases":2,"quota_storage_gb":10,"quota_mailboxes":10,"quota_domains":1,"quota_ftp_users":2}`)
	s.plan(d.Plans.VPS, `{"name":"VPS 2","description":"Two cores of your own.",
		"description_es":"Dos núcleos propios.","price":"9.90","setup_fee":"5.00",
		"resource_type":"vps","position":2,"vps_cpu_cores":2,"vps_memory_mb":4096,"vps_disk_gb":40,"vps_bandwidth_tb":2,
		"vps_os_options":["debian-12","ubuntu-24.04"],"vps_default_os":"debian-12"}`)
	s.plan(d.Plans.SaaS, `{"name":"Reseller","name_es":"Revendedor","description":"A panel for your own customers.",
		"description_es":"Un panel para su propia clientela.","price":"49.00",
		"resource_type":"saas","position":3,"saas_max_vms":10,"saas_max_hosting_accounts":50,"saas_max_agents":3,"saas_whitelabel":true}`)
	s.widget(ids[6], d.WidgetID, d.Plans)
	s.key(d.APIKey, "Demo", 6000, superuser)
	s.key(d.APIKeyDefault, "Demo, default limit", 60, superuser)
	return d, s.commands, s.rows, s.err
}

// A seeder collects what is to be done, up to the first mistake.
type seeder struct {
	program  *program.Program
	at       time.Time
	commands []domain.Command
	rows     []eventstore.TxStatement
	err      error
}

func (s *seeder) add(c ...domain.Command) { s.commands = append(s.commands, c...) }

func (s *seeder) user(ctx context.Context, user int64, l Login, name string, superuser bool) {
	subject, err := s.program.Store.Subject(ctx, l.Username)
	s.err = errors.Join(s.err, err)
	s.add(
		account.Open{User: user, SubjectID: subject, Email: l.Username, Name: name, Language: "en", Superuser: superuser, At: s.at},
		account.ChangePassword{User: user, At: s.at},
	)
	hash, err := credentials.Open(s.program.Pool, s.program.Keys).HashPassword(ctx, l.Password)
	s.err = errors.Join(s.err, err)
	s.rows = append(s.rows, credentials.PasswordRow(user, hash))
}

func (s *seeder) tenant(ctx context.Context, tenant int64, email string) {
	subject, err := s.program.Store.Subject(ctx, email)
	number := hosting.CustomerNumber(tenant)
	spec, err2 := decoded(&hosting.Tenant{CustomerNumber: number, Limits: hosting.NoLimits().With("cron_jobs", 10)},
		fmt.Sprintf(`{"name":"Demo","email":%q,"slug":"demo","username":%q}`, email, number))
	s.err = errors.Join(s.err, err, err2)
	s.add(hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: tenant}, Tenant: tenant, Spec: spec, Subject: subject})
}

// packages is the kind that all tenants share.
var packages = hosting.Kinds[slices.IndexFunc(hosting.Kinds, func(k hosting.Kind) bool { return k.Shared })]

// pack makes a package, of which a plan sells what quotas do not name.
func (s *seeder) pack(id int64, about string) {
	spec, err := decoded(&hosting.Package{}, about)
	s.err = errors.Join(s.err, err)
	s.add(hosting.Request{Ref: hosting.Ref{Kind: packages.Name, ID: id}, Spec: spec})
}

func (s *seeder) plan(plan int64, about string) {
	p := storefront.Plan{}
	_, err := p.Fields().DecodeJSON([]byte(about), field.Create)
	p.Currency = s.program.Config.Currency
	s.err = errors.Join(s.err, err)
	s.add(storefront.OfferPlan{Plan: plan, Spec: p.Fields().Values(), At: s.at})
}

func (s *seeder) widget(widget int64, public string, plans demoPlans) {
	spec, err := decoded(
		&storefront.Widget{},
		fmt.Sprintf(`{"name":"Demo","language":"en","cta_text":"Order","cta_text_es":"Contratar","plans":[%d,%d,%d]}`,
			plans.Hosting, plans.VPS, plans.SaaS),
	)
	s.err = errors.Join(s.err, err)
	s.add(storefront.MakeWidget{Widget: widget, WidgetID: public, Spec: spec, At: s.at})
}

func (s *seeder) key(text, name string, limit int, owner int64) {
	key, _ := storefront.ParseKey(text)
	spec, err := decoded(&storefront.APIKey{}, fmt.Sprintf(`{"name":%q,"rate_limit_per_minute":%d}`, name, limit))
	s.err = errors.Join(s.err, err)
	s.add(
		storefront.IssueKey{
			ID: key.ID, Mode: key.Mode, Hash: storefront.HashKey(text), Spec: spec, CreatedBy: owner, Owner: owner,
			At: s.at,
		},
	)
}

// decoded is a record as the API would take it, defaults included.
func decoded(record interface{ Fields() field.Set }, about string) (field.Values, error) {
	_, err := record.Fields().DecodeJSON([]byte(about), field.Create)
	return record.Fields().Values(), err
}

// ReadDemo reads demo.json; the zero demo if there is no such file.
func ReadDemo(path string) (d Demo, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		return d, fmt.Errorf("read %s: %w", path, err)
	}
	return d, nil
}

func (d Demo) write(path string) error {
	text, err := json.MarshalIndent(d, "", "  ")
	if err == nil {
		err = wholefile.Write(path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func newWidgetID() string {
	var b [16]byte
	rand.Read(b[:])
	return storefront.WidgetID(b)
}

// newPassword has about 130 random bits.
func newPassword() string { return rand.Text() }
