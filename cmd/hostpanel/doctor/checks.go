package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/adapters/payments"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/domain/wording"
	"hostpanel/eventstore/clock"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// settings tells of warnings, a line each.
func (p *patient) settings() []Finding {
	var found []Finding
	for _, text := range p.cfg.Warnings() {
		found = append(found, Finding{"settings", warning, text, ""})
	}
	if found == nil {
		found = []Finding{{"settings", ok, "no mistake and no warning", ""}}
	}
	return found
}

// directory is the data directory, for us alone.
func (p *patient) directory() Finding {
	f := Finding{Check: "data directory", State: ok, Says: p.cfg.DataDir}
	info, err := os.Stat(p.cfg.DataDir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.cfg.DatabaseURL != "":
		f.Says = p.cfg.DataDir + " does not exist, and is not needed"
	case errors.Is(err, fs.ErrNotExist):
		f.State, f.Says, f.Mend = failed, p.cfg.DataDir+" does not exist",
			"name the one of your panel with --data-dir or HOSTPANEL_DATA_DIR"
	case err != nil:
		f.State, f.Says, f.Mend = failed, why(err), "run this as the user of the panel"
	case info.Mode().Perm()&0o066 != 0:
		f.State, f.Says, f.Mend = failed, p.cfg.DataDir+" can be read by others", "chmod 0700 "+p.cfg.DataDir+" (0711 as root)"
	}
	return f
}

// What is little room: the log and mails stop at the end of it.
const (
	noRoom     = 512 << 20
	littleRoom = 2 << 30
)

func (p *patient) disk() Finding {
	free, err := p.free(p.cfg.DataDir)
	f := Finding{"disk", ok, wording.Grouped(int64(free>>20)) + " MiB are free", ""}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.State, f.Says = skipped, "there is no data directory"
	case err != nil:
		f.State, f.Says = skipped, why(err)
	case free < noRoom:
		f.State, f.Mend = failed, "make room on the disk of "+p.cfg.DataDir
	case free < littleRoom:
		f.State, f.Mend = warning, "make room on the disk of "+p.cfg.DataDir
	}
	return f
}

// secretKey can be read, and is well formed.
func (p *patient) secretKey() Finding {
	if _, err := p.cfg.Keyring(false); err != nil {
		return Finding{"secret key", failed, why(err), "docs/security.md tells how keys are kept"}
	}
	return Finding{"secret key", ok, "it is well formed", ""}
}

// database judges how opening the panel went.
func (p *patient) database(ctx context.Context, err error) Finding {
	f := Finding{Check: "database", State: ok}
	if err == nil {
		err = p.panel.Pool.QueryRow(ctx, `select format('PostgreSQL %s, %s', current_setting('server_version'),
			pg_size_pretty(pg_database_size(current_database())))`).Scan(&f.Says)
	}
	if err != nil {
		f.State, f.Says, f.Mend = failed, why(err), `"hostpanel doctor" again shows what is left`
	}
	return f
}

// privileges are those of the role that the panel works with.
func (p *patient) privileges(ctx context.Context) Finding {
	var role string
	var mayChange bool
	err := p.panel.Pool.QueryRow(ctx, `
		select current_user, bool_or(has_table_privilege(current_user, 'events', privilege)) from unnest(array['UPDATE',
			'DELETE', 'TRUNCATE']) privilege`).Scan(&role, &mayChange)
	switch {
	case err != nil:
		return unread(err)
	case mayChange:
		return Finding{
			State: failed, Says: "the role " + role + " may change or delete events",
			Mend: "as the owner: revoke update, delete, truncate on events from " + role,
		}
	}
	if err := projections.CheckIsolation(ctx, p.panel.Readers); err != nil {
		return Finding{
			State: failed, Says: why(err),
			Mend: `take back what was changed, or build the tables anew ("hostpanel projections rebuild")`,
		}
	}
	return Finding{State: ok, Says: role + " can add events, and change none"}
}

func unread(err error) Finding {
	return Finding{State: failed, Says: why(err), Mend: "read the log of Postgres"}
}

// readTables are in step with the log.
func (p *patient) readTables(ctx context.Context) Finding {
	states, err := p.panel.Tables.For(projections.System).Operations().States(ctx)
	if err != nil {
		return unread(err)
	}
	for _, s := range states {
		if s.Status == "failed" {
			return Finding{
				State: failed, Says: "the read table " + s.Name + " could not be built",
				Mend: "hostpanel projections rebuild " + s.Name,
			}
		}
	}
	return Finding{State: ok, Says: fmt.Sprintf("%d tables", len(states))}
}

// clockLimit is how far two clocks may differ: leases and tokens allow for less
// than a minute.
const clockLimit = 5 * time.Second

func (p *patient) clock(ctx context.Context) Finding {
	var theirs time.Time
	before := clock.Now()
	if err := p.panel.Pool.QueryRow(ctx, `select real_clock()`).Scan(&theirs); err != nil {
		return unread(err)
	}
	took := clock.Since(before)
	apart := theirs.Sub(before.Add(took / 2)).Abs().Round(time.Millisecond)
	switch {
	case apart > clockLimit+took:
		return Finding{
			State: failed,
			Says:  fmt.Sprintf("the clocks of this machine and of the database differ by %s", apart.Round(time.Second)),
			Mend:  "set both by NTP (chrony, systemd-timesyncd)",
		}
	case p.panel.Store.Clock().Ahead() > 0 && !p.cfg.Demo:
		return Finding{
			State: failed, Says: "the business clock of this database is ahead",
			Mend: "it is one of a demo or a test: use another database",
		}
	}
	return Finding{State: ok, Says: fmt.Sprintf("this machine and the database differ by %s", apart)}
}

// keys open what is sealed in the database.
func (p *patient) keys(ctx context.Context) Finding {
	rows, err := p.panel.Pool.Query(ctx, `select key_id, count(*) from subject_keys where wrapped <> '' group by 1 order by 1`)
	if err != nil {
		return unread(err)
	}
	defer rows.Close()
	people, lost := int64(0), int64(0)
	var unknown []string
	for rows.Next() {
		var id string
		var n int64
		if err := rows.Scan(&id, &n); err != nil {
			return unread(err)
		}
		if people += n; !p.panel.Keys.Holds(id) {
			lost, unknown = lost+n, append(unknown, id)
		}
	}
	if err := rows.Err(); err != nil {
		return unread(err)
	}
	if lost > 0 {
		return Finding{
			State: failed,
			Says:  fmt.Sprintf("data of %s is sealed with the secret key %s, which is not set", persons(lost), strings.Join(unknown, ", ")),
			Mend:  "add that key behind the first in HOSTPANEL_SECRET_KEY, or put its secret.key back",
		}
	}
	return Finding{State: ok, Says: "they open the data of " + persons(people)}
}

func persons(n int64) string {
	if n == 1 {
		return "1 person"
	}
	return wording.Grouped(n) + " people"
}

// engine lets us in, grants what is needed, and is the one that has the resources.
func (p *patient) engine(ctx context.Context) Finding {
	says, mend, err := p.panel.EngineChanged(ctx)
	if err != nil {
		return unread(err)
	}
	if says != "" {
		return Finding{State: failed, Says: says, Mend: mend}
	}
	if p.cfg.ISPConfig == nil {
		return Finding{State: ok, Says: "the sandbox of the panel"}
	}
	err = p.panel.CheckEngine(ctx)
	if err == nil {
		return Finding{State: ok, Says: p.cfg.ISPConfig.URL + " lets us in and grants every function"}
	}
	mend = "start it, or correct ISPCONFIG_URL"
	if domain.ClassOf(err) == domain.Permanent || domain.LackOf(err) != "" {
		mend = "correct ISPCONFIG_USERNAME, ISPCONFIG_PASSWORD or ISPCONFIG_SERVER_ID, or the functions of the " +
			"remote user (docs/engine-ispconfig.md)"
	}
	if sagas.CodeOf(err) == ispconfig.Held {
		mend = program.EngineHeld
	}
	return Finding{State: failed, Says: p.cfg.ISPConfig.URL + ": " + why(err), Mend: mend}
}

// providers are those outside the panel that customers are offered.
func (p *patient) providers(ctx context.Context) (found []Finding) {
	for _, one := range p.cfg.Payments {
		if !one.Offered {
			continue
		}
		f := Finding{"payments", ok, "customers can pay with " + one.Method().Name, ""}
		if outside, is := one.Opened.(payments.Reacher); is {
			f = within(ctx, func(ctx context.Context) Finding { return reached(ctx, one.Method().Name, outside) })
		}
		found = append(found, f)
	}
	if found == nil {
		found = []Finding{
			{"payments", warning, "customers are offered no payment method", "set the credentials of a provider (docs/configuration.md)"},
		}
	}
	return found
}

func reached(ctx context.Context, name string, provider payments.Reacher) Finding {
	err := provider.Reach(ctx)
	if err == nil {
		return Finding{"payments", ok, name + " answers and accepts the credentials", ""}
	}
	mend := "mend the way to its API; orders wait"
	if domain.ClassOf(err) == domain.Permanent {
		mend = "correct the credentials of " + name
	}
	return Finding{"payments", failed, name + ": " + why(err), mend}
}

// mail connects to the mail server, and sends a mail if it was asked for.
func (p *patient) mail(ctx context.Context) Finding {
	panel := p.panel
	if panel == nil {
		return Finding{"mail", skipped, "not examined without the database", ""}
	}
	m, err := panel.Mail()
	if err != nil {
		return Finding{"mail", failed, why(err), "correct SMTP_URL (docs/adapters.md)"}
	}
	if err := m.Check(ctx); err != nil {
		return Finding{"mail", failed, m.Address() + ": " + why(err), "start the mail server, or correct SMTP_URL and its user"}
	}
	if p.sendTest == "" {
		return Finding{"mail", ok, m.Address() + " takes mails; --send-test ADDRESS sends one", ""}
	}
	letter := notice.Mail{
		MessageID: uuid.NewString() + "@doctor", From: panel.MailFrom(), To: p.sendTest, Subject: "Test mail of hostpanel",
		Text: "This mail was sent by hostpanel doctor. Mails of the panel reach this address.\n",
	}
	if err := m.Send(ctx, letter); err != nil {
		return Finding{
			"mail", failed, "the test mail was refused by " + m.Address() + ": " + why(err),
			"correct MAIL_FROM, or let the server relay for this machine",
		}
	}
	return Finding{"mail", ok, "a test mail was given to " + m.Address(), ""}
}

// nameServers have addresses.
func (p *patient) nameServers(ctx context.Context) Finding {
	f := Finding{"name servers", ok, strings.Join(p.cfg.NameServers, ", "), ""}
	if p.cfg.NamesNoServers() {
		f.Says = "none are set"
		if !p.cfg.Demo {
			f.State, f.Mend = warning, "name them in HOSTPANEL_NAMESERVERS, or zones do not work"
		}
		return f
	}
	var lost []string
	for _, name := range p.cfg.NameServers {
		if found, err := p.lookup(ctx, name); err != nil || len(found) == 0 {
			lost = append(lost, name)
		}
	}
	if len(lost) > 0 {
		f.State, f.Says, f.Mend = failed, strings.Join(lost, ", ")+" has no address",
			"correct HOSTPANEL_NAMESERVERS, or add the addresses to their zone"
	}
	return f
}
