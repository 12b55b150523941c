package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"hostpanel/adapters/postgres"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/connection"
	"hostpanel/cmd/hostpanel/console"
)

// A need is what a command wants of the data directory and the database.
type need struct {
	create bool // make what is missing: `serve` and `migrate`
	serve  bool // claim the directory
}

func (as Part) need() need { return need{create: as == Serving, serve: as == Serving} }

// reach finds the data directory, the secret keys and the database.
func (p *Program) reach(ctx context.Context, n need) (err error) {
	if err := p.directory(n); err != nil {
		return err
	}
	if p.Keys, err = p.Config.Keyring(n.create); err != nil {
		return err
	}
	return p.database(ctx, n)
}

// directory makes the data directory, or refuses to go on without the one that
// `serve` has made.
func (p *Program) directory(n need) error {
	if n.create {
		return config.MakeDataDir(p.Config.DataDir)
	}
	needed := p.Config.DatabaseURL == "" || !p.Config.HasSecretKey()
	if _, err := os.Stat(p.Config.DataDir); needed && errors.Is(err, fs.ErrNotExist) {
		return noPanel(p.Config.DataDir)
	}
	return nil
}

// noPanel refuses a data directory in which no panel was ever served.
func noPanel(dir string) error {
	return console.Misused("there is no panel in %s: name the data directory of yours with --data-dir or HOSTPANEL_DATA_DIR; "+
		`"hostpanel serve" makes a new one`, dir)
}

// database finds the database, or runs one in the data directory.
func (p *Program) database(ctx context.Context, n need) (err error) {
	if p.URL = p.Config.DatabaseURL; p.URL != "" {
		return connection.Await(ctx, p.URL, p.Log)
	}
	p.cluster, err = postgres.Start(ctx, postgres.Options{
		Dir: p.Config.DataDir, Serve: n.serve, Existing: !n.create, Repository: p.Config.PostgresMirror,
		Begins: p.tell,
	})
	switch {
	case errors.Is(err, postgres.ErrServed):
		return fmt.Errorf("%w (give this one another HOSTPANEL_DATA_DIR, or stop the other)", err)
	case errors.Is(err, postgres.ErrNoCluster):
		return noPanel(p.Config.DataDir)
	case err != nil:
		return err
	}
	p.URL = p.cluster.URL()
	return nil
}

// tell passes on what of a start takes a moment.
func (p *Program) tell(s postgres.Stage) {
	if p.Config.Begins != nil {
		p.Config.Begins(stages[s])
	}
}

// stages say to people what a start does.
var stages = map[postgres.Stage]string{
	postgres.Fetching: "Fetching and unpacking PostgreSQL, because this machine has none",
	postgres.Creating: "Making a database of the panel's own",
	postgres.Starting: "Starting PostgreSQL",
}
