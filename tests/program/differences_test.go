//go:build system

package program_test

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
	"hostpanel/tests/processtest"
)

// An engineBehind is a program beside the one that serves, and the engine by which
// a test changes objects behind the panel's back.
type engineBehind struct {
	*livingKinds
	*program.Program

	home   processtest.Home
	engine hosting.EngineServer
	tenant int64
}

// beside opens a program on the same database and engine as the one that serves.
func beside(l *livingKinds, h processtest.Home, fake *ispconfigtest.Engine) *engineBehind {
	l.T.Helper()
	s := config.Settings{
		DataDir: h.Dir, DatabaseURL: strings.TrimPrefix(h.At[0], "DATABASE_URL="),
		SecretKey: programtest.SecretKey,
	}
	if fake != nil {
		s.Engine, s.ISPConfigURL, s.ISPConfigServerID, s.ISPConfigSites = "ispconfig", fake.URL, "1", "named"
		s.ISPConfigUsername, s.ISPConfigPassword = ispconfigtest.User, ispconfigtest.Password
	}
	cfg, err := config.New(s, false)
	must(l.T, err)
	p, err := program.Open(l.T.Context(), cfg, redact.NewLog(os.Stderr, slog.LevelError), program.Reading)
	must(l.T, err)
	l.T.Cleanup(p.Close)
	b := &engineBehind{livingKinds: l, Program: p, home: h, engine: enginesandbox.New(p.Pool)}
	if fake != nil {
		c := *cfg.ISPConfig
		c.NameServers = cfg.NameServers
		b.engine, err = ispconfig.New(c)
		must(l.T, err)
	}
	b.tenant, err = strconv.ParseInt(l.ids["tenant"], 10, 64)
	must(l.T, err)
	return b
}

// differ are the incidents that a comparison leaves.
func (b *engineBehind) differ() []projections.Incident {
	b.T.Helper()
	must(b.T, b.Sagas.Differences.CompareTenant(b.T.Context(), b.tenant))
	found, err := b.Tables.For(projections.System).Operations().DifferencesOf(b.T.Context(), b.tenant)
	must(b.T, err)
	return found
}

// object is the engine's object of a record.
func (b *engineBehind) object(kind string) hosting.EngineObject {
	b.T.Helper()
	id, err := strconv.ParseInt(b.ids[kind], 10, 64)
	must(b.T, err)
	tables := b.Tables.For(projections.System)
	tenant, err := tables.Hosting().Resource(b.T.Context(), hosting.Ref{Kind: "tenant", ID: b.tenant})
	must(b.T, err)
	row, err := tables.Hosting().Resource(b.T.Context(), hosting.Ref{Kind: kind, ID: id})
	must(b.T, err)
	objects, err := b.engine.List(b.T.Context(), kind, *tenant.EngineID)
	must(b.T, err)
	at := slices.IndexFunc(objects, func(o hosting.EngineObject) bool { return o.ID == *row.EngineID })
	if at < 0 {
		b.T.Fatalf("the engine has no %s %d", kind, *row.EngineID)
	}
	o := objects[at]
	o.Owner = *tenant.EngineID
	return o
}

// A site that was changed at the engine is taken over, a record that was removed
// there is made again, and one that was added there gets a record, on every engine.
// With one resource of each kind nothing else differs.
func TestDifferencesToEveryEngineAreAnswered(t *testing.T) { // E-8
	for name, start := range map[string]func(*testing.T) (processtest.Home, *processtest.Process, *ispconfigtest.Engine){
		"sandbox": func(t *testing.T) (processtest.Home, *processtest.Process, *ispconfigtest.Engine) {
			h := processtest.NewHome(t)
			return h, h.Start(), nil
		},
		"ispconfig": func(t *testing.T) (processtest.Home, *processtest.Process, *ispconfigtest.Engine) {
			h, _, fake := onISPConfig(t)
			ticking(t, fake)
			return h, h.Serving("--listen", "127.0.0.1:0"), fake
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, r, fake := start(t)
			l := &livingKinds{Process: r, ids: map[string]string{}}
			l.headers = []string{
				"Authorization", "Bearer " + r.SignIn(h.Demo().Superuser).Field(t, "access"), "Content-Type",
				processtest.AsJSON,
			}
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
			r.Stop()
		})
	}
}

// secured waits for the certificate of the site: with it the whole site goes to the
// engine once more. The double of ISPConfig issues none unasked.
func (b *engineBehind) secured() {
	b.T.Helper()
	processtest.Eventually(b.T, "the site serves HTTPS", func() bool {
		site := b.Ask(200, "GET", b.path(kindNamed("site")), "", b.headers...)
		return strings.Contains(site.Body, `"ssl_enabled":true`) && site.Field(b.T, "sync_status") == "synced"
	})
}

// meddles changes a site, removes a DNS record and adds another.
func (b *engineBehind) meddles() {
	b.T.Helper()
	site, lost := b.object("site"), b.object("dns_record")
	site.Values["ip_address"], site.Changed = json.RawMessage(`"192.0.2.10"`), []string{"ip_address"}
	must(b.T, b.engine.Change(b.T.Context(), site))
	must(b.T, b.engine.Remove(b.T.Context(), lost))
	added := lost
	added.ID = 0
	added.Values["name"], added.Values["data"] = json.RawMessage(`"ftp"`), json.RawMessage(`"192.0.2.9"`)
	added.Name = hosting.RecordName(hosting.RecordKey{
		Origin: "life.example.", Name: "ftp.life.example.", Type: "A",
		Data: "192.0.2.9",
	})
	_, err := b.engine.Create(b.T.Context(), added)
	must(b.T, err)
	processtest.Eventually(b.T, "three differences", func() bool { return len(b.differ()) == 3 })
}

// answers gives an answer to each.
func (b *engineBehind) answers() {
	b.T.Helper()
	var listed []struct{ ID, Kind string }
	must(b.T, json.Unmarshal([]byte(b.home.Must("incidents", "list", "--json")), &listed))
	answers := map[string]string{
		operations.EngineChanged: "adopt", operations.EngineMissing: "remake",
		operations.EngineOrphan: "adopt",
	}
	if len(listed) != len(answers) {
		b.T.Fatal(listed)
	}
	for _, i := range listed {
		b.home.Must("incidents", "ignore", i.ID, "--reason", "not now")
		b.home.Must("incidents", answers[i.Kind], i.ID, "--reason", "as agreed")
	}
	if a := b.Ask(200, "GET", b.path(kindNamed("site")), "", b.headers...); a.Field(b.T, "ip_address") != "192.0.2.10" {
		b.T.Error(a.Body)
	}
}

func kindNamed(name string) hosting.Kind {
	kind, _ := hosting.KindNamed(name)
	return kind
}
