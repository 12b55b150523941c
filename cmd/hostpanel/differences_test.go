package main

import (
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	enginesandbox "hostpanel/adapters/engine/sandbox"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/cmd/hostpanel/redact"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/projections"
)

// An engineBehind is a program beside the one that serves, and the engine by which
// a test changes objects behind the panel's back.
type engineBehind struct {
	*livingKinds
	*program.Program

	home   home
	engine hosting.EngineServer
	tenant int64
}

// beside opens a program on the same database and engine as the one that serves.
func beside(l *livingKinds, h home, fake *ispconfigtest.Engine) *engineBehind {
	l.t.Helper()
	s := config.Settings{DataDir: h.dir, DatabaseURL: strings.TrimPrefix(h.at[0], "DATABASE_URL="), SecretKey: programtest.SecretKey}
	if fake != nil {
		s.Engine, s.ISPConfigURL, s.ISPConfigUsername, s.ISPConfigPassword, s.ISPConfigServerID = "ispconfig", fake.URL, ispconfigtest.User, ispconfigtest.Password, "1"
	}
	cfg, err := config.New(s, false)
	must(l.t, err)
	p, err := program.Open(l.t.Context(), cfg, redact.NewLog(os.Stderr, slog.LevelError), program.Reading)
	must(l.t, err)
	l.t.Cleanup(p.Close)
	b := &engineBehind{livingKinds: l, Program: p, home: h, engine: enginesandbox.New(p.Pool)}
	if fake != nil {
		c := *cfg.ISPConfig
		c.NameServers = cfg.NameServers
		b.engine, err = ispconfig.New(c)
		must(l.t, err)
	}
	b.tenant, err = strconv.ParseInt(l.ids["tenant"], 10, 64)
	must(l.t, err)
	return b
}

// differ are the incidents that a comparison leaves.
func (b *engineBehind) differ() []projections.Incident {
	b.t.Helper()
	must(b.t, b.Sagas.Differences.CompareTenant(b.t.Context(), b.tenant))
	found, err := b.Tables.For(projections.System).DifferencesOf(b.t.Context(), b.tenant)
	must(b.t, err)
	return found
}

// object is the engine's object of a record.
func (b *engineBehind) object(kind string) hosting.EngineObject {
	b.t.Helper()
	id, err := strconv.ParseInt(b.ids[kind], 10, 64)
	must(b.t, err)
	tables := b.Tables.For(projections.System)
	tenant, err := tables.Resource(b.t.Context(), hosting.Ref{Kind: "tenant", ID: b.tenant})
	must(b.t, err)
	row, err := tables.Resource(b.t.Context(), hosting.Ref{Kind: kind, ID: id})
	must(b.t, err)
	objects, err := b.engine.List(b.t.Context(), kind, *tenant.EngineID)
	must(b.t, err)
	at := slices.IndexFunc(objects, func(o hosting.EngineObject) bool { return o.ID == *row.EngineID })
	if at < 0 {
		b.t.Fatalf("the engine has no %s %d", kind, *row.EngineID)
	}
	o := objects[at]
	o.Owner = *tenant.EngineID
	return o
}

// A site that was changed at the engine is taken over, a record that was removed
// there is made again, and one that was added there gets a record, on every engine.
// With one resource of each kind nothing else differs.
func TestDifferencesToEveryEngineAreAnswered(t *testing.T) { // E-8
	for name, start := range map[string]func(*testing.T) (home, *running, *ispconfigtest.Engine){
		"sandbox": func(t *testing.T) (home, *running, *ispconfigtest.Engine) { h := newHome(t); return h, h.start(), nil },
		"ispconfig": func(t *testing.T) (home, *running, *ispconfigtest.Engine) {
			h, _, fake := onISPConfig(t)
			ticking(t, fake)
			return h, h.serving("--listen", "127.0.0.1:0"), fake
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, r, fake := start(t)
			l := &livingKinds{running: r, ids: map[string]string{}}
			l.headers = []string{"Authorization", "Bearer " + r.signIn(h.demo().Superuser).field(t, "access"), "Content-Type", asJSON}
			l.areMade()
			b := beside(l, h, fake)
			if fake == nil {
				b.secured()
			}
			if found := b.differ(); len(found) != 0 {
				t.Fatal("as made:", found)
			}
			b.meddles()
			b.answers()
			l.agrees("answered")
			if found := b.differ(); len(found) != 0 {
				t.Error("answered:", found)
			}
			r.stop()
		})
	}
}

// secured waits for the certificate of the site: with it the whole site goes to the
// engine once more. The double of ISPConfig issues none unasked.
func (b *engineBehind) secured() {
	b.t.Helper()
	eventually(b.t, "the site serves HTTPS", patience, func() bool {
		site := b.ask(200, "GET", b.path(kindNamed("site")), "", b.headers...)
		return strings.Contains(site.body, `"ssl_enabled":true`) && site.field(b.t, "sync_status") == "synced"
	})
}

// meddles changes a site, removes a DNS record and adds another.
func (b *engineBehind) meddles() {
	b.t.Helper()
	site, lost := b.object("site"), b.object("dns_record")
	site.Values["ip_address"], site.Changed = json.RawMessage(`"192.0.2.10"`), []string{"ip_address"}
	must(b.t, b.engine.Change(b.t.Context(), site))
	must(b.t, b.engine.Remove(b.t.Context(), lost))
	added := lost
	added.ID = 0
	added.Values["name"], added.Values["data"] = json.RawMessage(`"ftp"`), json.RawMessage(`"192.0.2.9"`)
	added.Name = hosting.RecordName(hosting.RecordKey{Origin: "life.example.", Name: "ftp.life.example.", Type: "A", Data: "192.0.2.9"})
	_, err := b.engine.Create(b.t.Context(), added)
	must(b.t, err)
	eventually(b.t, "three differences", patience, func() bool { return len(b.differ()) == 3 })
}

// answers gives an answer to each.
func (b *engineBehind) answers() {
	b.t.Helper()
	var listed []struct{ ID, Kind string }
	must(b.t, json.Unmarshal([]byte(b.home.must("incidents", "list", "--json")), &listed))
	answers := map[string]string{operations.EngineChanged: "adopt", operations.EngineMissing: "remake", operations.EngineOrphan: "adopt"}
	if len(listed) != len(answers) {
		b.t.Fatal(listed)
	}
	for _, i := range listed {
		b.home.must("incidents", "ignore", i.ID, "--reason", "not now")
		b.home.must("incidents", answers[i.Kind], i.ID, "--reason", "as agreed")
	}
	if a := b.ask(200, "GET", b.path(kindNamed("site")), "", b.headers...); a.field(b.t, "ip_address") != "192.0.2.10" {
		b.t.Error(a.body)
	}
}

func kindNamed(name string) hosting.Kind {
	kind, _ := hosting.KindNamed(name)
	return kind
}
