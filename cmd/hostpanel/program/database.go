package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hostpanel/adapters/postgres"
	"hostpanel/cmd/hostpanel/config"
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
		return p.awaitDatabase(ctx)
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

// How long a start waits for a database that recovers from a crash, and how
// often it asks.
const (
	recoveryLimit = 5 * time.Minute
	recoveryPause = 250 * time.Millisecond
)

// awaitDatabase waits while the database of DATABASE_URL starts up. Any other
// failure to connect ends the wait, with what to do about it.
func (p *Program) awaitDatabase(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, recoveryLimit)
	defer cancel()
	var answer error // the last one that said so
	for {
		err := ping(bounded, p.URL)
		switch {
		case err == nil:
			return nil
		case bounded.Err() != nil && answer != nil: // the end of the wait has cut an attempt
			return orMend(answer, p.URL)
		case sqlState(err) != startingUp:
			return orMend(err, p.URL)
		case answer == nil:
			p.Log.WarnContext(ctx, "the database is starting up: waiting for it", "at_most", recoveryLimit)
		}
		answer = err
		select {
		case <-bounded.Done():
		case <-time.After(recoveryPause):
		}
	}
}

// pingLimit bounds one attempt to connect.
const pingLimit = 10 * time.Second

func ping(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// Answers of Postgres to a connection, by SQLSTATE.
const (
	startingUp     = "57P03"
	noSuchDatabase = "3D000"
	wrongPassword  = "28P01"
	notAllowed     = "28000"
	tooMany        = "53300"
)

func sqlState(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// orMend puts a failure to connect in words that say what to do. A mistake in
// DATABASE_URL ends with the exit code of wrong configuration, because trying
// again does not help. No text of it has a password.
func orMend(err error, url string) error {
	if err == nil {
		return nil
	}
	at, parseErr := pgx.ParseConfig(url)
	if parseErr != nil {
		return console.Misused("DATABASE_URL is not a Postgres URL such as postgres://user:password@host/database")
	}
	server := at.Host
	if !filepath.IsAbs(at.Host) {
		server = net.JoinHostPort(at.Host, fmt.Sprint(at.Port))
	}
	var unknown *net.DNSError
	switch state := sqlState(err); {
	case state == wrongPassword, state == notAllowed:
		return console.Misused(
			"DATABASE_URL: the server at %s refuses the user %s: correct the user name or the password, or allow it in pg_hba.conf",
			server, at.User,
		)
	case state == noSuchDatabase:
		return console.Misused(
			"DATABASE_URL: the server at %s has no database %s: make it (createdb %s), or correct the name", server,
			at.Database, at.Database,
		)
	case state == tooMany:
		return fmt.Errorf("the database at %s has no connection left: raise its max_connections, or end other programs on it", server)
	case state == startingUp:
		return fmt.Errorf("the database at %s is still starting up: read its log", server)
	case errors.As(err, &unknown):
		return fmt.Errorf("the host %s of DATABASE_URL has no address: correct the name, or mend name resolution", at.Host)
	case state == "":
		return fmt.Errorf("the database at %s does not answer: start Postgres there, or correct DATABASE_URL", server)
	}
	return fmt.Errorf("connect to the database at %s: %w", server, err)
}
