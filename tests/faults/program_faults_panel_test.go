//go:build system

package faults_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/alecthomas/kong"

	"hostpanel/adapters/payments/test"
	"hostpanel/adapters/postgres"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/redact"
	"hostpanel/cmd/hostpanel/secrets/rotation"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
	"hostpanel/tests/processtest"
)

// A panelAt is a panel in a data directory of its own. At a distance its database is not
// in there: it is that of an ordinary role, in a cluster that the campaign ends and starts.
type panelAt struct {
	t       *testing.T
	home    processtest.Home
	cluster *postgres.Cluster // nil: the program has its own
	url     string
	keys    []string // of that database, as the program is given them
}

func newPanelAt(t *testing.T) *panelAt {
	t.Helper()
	p := &panelAt{t: t, home: processtest.OwnHome(t)}
	if eventstoretest.IsDistant() {
		p.cluster = eventstoretest.Private(t, nil)
		p.url = eventstoretest.Distant(t, eventstoretest.Ordinary(t, p.cluster))
		p.hasKeys(sealing.NewSecretKey())
	}
	return p
}

// hasKeys is the list of keys from the next start on.
func (p *panelAt) hasKeys(list ...string) {
	p.keys = list
	p.home.At = []string{"DATABASE_URL=" + p.url, "HOSTPANEL_SECRET_KEY=" + strings.Join(list, ",")}
}

// endPostgres ends the database's server as a power cut does. It comes back by itself;
// back waits for one that the program does not restart.
func (p *panelAt) endPostgres() (back func() error) {
	if p.cluster != nil {
		started := make(chan error, 1)
		go func() { started <- p.cluster.Crash(p.t.Context()) }()
		return func() error { return <-started }
	}
	note, err := os.ReadFile(filepath.Join(p.home.Dir, "postgres", "postmaster.pid"))
	must(p.t, err)
	first, _, _ := strings.Cut(string(note), "\n")
	pid, err := strconv.Atoi(first)
	must(p.t, err)
	must(p.t, syscall.Kill(pid, syscall.SIGKILL))
	return func() error { return nil }
}

// replaceKey does the next step of a replacement of the secret key. Keys in the settings
// are edited as the command does with those of the data directory.
func (p *panelAt) replaceKey() (said, complaint string) {
	if p.cluster == nil {
		said, complaint, code := p.home.Command("secrets", "rotate", "--leaked")
		if code == console.Done {
			complaint = ""
		}
		return said, complaint
	}
	p.looking(func(ctx context.Context, open *program.Program) {
		keys, err := eventstore.SecretKeys(ctx, open.Pool, open.Keys)
		must(p.t, err)
		list, next, err := rotation.Next(p.keys, keys, true)
		if err != nil {
			complaint = err.Error()
			return
		}
		said = next
		p.hasKeys(list...)
	})
	return said, complaint
}

// looking opens the panel's data beside the program.
func (p *panelAt) looking(look func(context.Context, *program.Program)) {
	ctx := p.t.Context()
	cfg, err := config.New(config.Settings{
		DataDir: p.home.Dir, DatabaseURL: p.url, SecretKey: strings.Join(p.keys, ","),
		Payments: kong.Plugins{&test.Settings{Payments: "on"}},
	}, false)
	must(p.t, err)
	open, err := program.Open(ctx, cfg, redact.NewLog(os.Stderr, slog.LevelError), program.Reading)
	must(p.t, err)
	defer open.Close()
	look(ctx, open)
}
