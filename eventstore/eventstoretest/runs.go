package eventstoretest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// The names of databases. Those of a run begin with its name, a prefix and twelve digits.
// A database of a shared template goes on with the template's digest.
const (
	runPrefix      = "hostpanel_test_"
	templatePrefix = "hostpanel_template_"
	digits         = 12
)

// lockOf is the advisory lock of a name. A run holds that of its own name as long as it
// lives, and one on each shared template that it uses.
const lockOf = "hashtextextended($1, 0)"

const (
	keptTemplate = time.Hour // a shared template that no run uses
	keptUnused   = 8         // databases of a template that runs before have left
	keptBytes    = 4 << 20   // by which they may have grown
)

func newID() string { return strings.ReplaceAll(uuid.NewString(), "-", "")[:digits] }

func (s *server) newName(t *template) string {
	if t.digest == "" {
		return s.run + "_" + newID()
	}
	return s.run + "_" + t.digest + "_" + newID()
}

func (s *server) newDatabase(t *template) *database {
	name := s.newName(t)
	return &database{name: name, admin: s.adminURL(name), template: t}
}

func digest(name string, of []string) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q %q %q", ownerRole, name, of)))[:digits]
}

// A label is the comment on a shared template that is whole.
type label struct {
	Made    time.Time
	Content content
}

// findOrFill finds a shared template, or makes it while the other runs wait.
func (s *server) findOrFill(name string, prepare func(context.Context, string) error) (c content, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.base.String())
	if err != nil {
		return c, err
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing was left open
	if _, err := conn.Exec(ctx, "select pg_advisory_lock("+lockOf+")", "make "+name); err != nil {
		return c, err
	}
	if err := s.hold(ctx, "select pg_advisory_lock_shared("+lockOf+")", name); err != nil {
		return c, err
	}
	if made, err := labelOf(ctx, conn, name); err != nil || !made.Made.IsZero() {
		return made.Content, err
	}
	if err := s.exec("drop database if exists " + quote(name) + " with (force)"); err != nil {
		return c, err
	}
	if c, err = s.fill(name, prepare); err != nil {
		return c, err
	}
	text, err := json.Marshal(label{time.Now(), c})
	if err != nil {
		return c, err
	}
	return c, s.exec("comment on database " + quote(name) + " is '" + strings.ReplaceAll(string(text), "'", "''") + "'")
}

// labelOf is zero if there is no such template, or it is not whole.
func labelOf(ctx context.Context, conn *pgx.Conn, name string) (l label, err error) {
	var text *string
	err = conn.QueryRow(ctx, "select shobj_description(oid, 'pg_database') from pg_database where datname = $1", name).Scan(&text)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && text == nil {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	return l, json.Unmarshal([]byte(*text), &l)
}

// hold takes or releases a lock of this run.
func (s *server) hold(ctx context.Context, sql, name string) error {
	s.holding.Lock()
	defer s.holding.Unlock()
	_, err := s.holder.Exec(ctx, sql, name)
	return err
}

// adopt takes over a database of a shared template from a run that has ended, if there is one.
func (s *server) adopt(t *template) (*database, error) {
	if t.digest == "" || t.content.Schema == "" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s.holding.Lock()
	defer s.holding.Unlock()
	rows, _ := s.holder.Query(ctx, `
		select datname from pg_database d where datname ~ $1 and not starts_with(datname, $2)
			and not exists (select from pg_stat_activity where datid = d.oid)
			and pg_database_size(oid) < (select pg_database_size(oid) from pg_database where datname = $3) + $4`,
		"^"+runPrefix+"[0-9a-f]{12}_"+t.digest+"_", s.run, t.name, keptBytes)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		d := s.newDatabase(t)
		err := s.ofDead(ctx, name, func() error {
			return s.exec("alter database " + quote(name) + " rename to " + quote(d.name))
		})
		if err != nil {
			continue // it lives, or another run was first
		}
		if s.empty(ctx, d) == nil {
			return d, nil
		}
		if err := s.drop(ctx, d); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

var errAlive = errors.New("the run goes on")

// ofDead does something with a database if its run has ended. Meanwhile no other run does.
func (s *server) ofDead(ctx context.Context, name string, do func() error) error {
	run := name[:len(runPrefix)+digits]
	var dead bool
	if err := s.holder.QueryRow(ctx, "select pg_try_advisory_lock("+lockOf+")", run).Scan(&dead); err != nil {
		return err
	}
	if !dead {
		return errAlive
	}
	done := do()
	_, err := s.holder.Exec(ctx, "select pg_advisory_unlock("+lockOf+")", run)
	return errors.Join(done, err)
}

// clearUp drops what runs that have ended left: their own templates with the databases of
// these, more databases of shared templates than the next runs take over, and shared templates
// that were not used for long.
func (s *server) clearUp(ctx context.Context) error {
	s.holding.Lock()
	defer s.holding.Unlock()
	rows, _ := s.holder.Query(ctx, `select datname from pg_database where datname ~ $1 and not starts_with(datname, $2)`,
		"^"+runPrefix+"[0-9a-f]{12}_|^"+templatePrefix+"[0-9a-f]{12}$", s.run)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	kept := map[string]int{} // by the digest of a template
	for _, name := range names {
		of, shared := strings.CutPrefix(name, templatePrefix)
		if !shared {
			continue
		}
		gone, err := s.dropOld(ctx, name)
		if err != nil {
			return err
		}
		if !gone {
			kept[of] = keptUnused
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, templatePrefix) {
			continue
		}
		if parts := strings.Split(strings.TrimPrefix(name, runPrefix), "_"); len(parts) == 3 && kept[parts[1]] > 0 {
			kept[parts[1]]--
			continue
		}
		err := s.ofDead(ctx, name, func() error { return s.exec("drop database if exists " + quote(name) + " with (force)") })
		if err != nil && !errors.Is(err, errAlive) {
			return err
		}
	}
	return nil
}

// dropOld drops a shared template that no run uses and that was made long ago.
func (s *server) dropOld(ctx context.Context, name string) (gone bool, err error) {
	made, err := labelOf(ctx, s.holder, name)
	if err != nil || time.Since(made.Made) < keptTemplate {
		return false, err
	}
	var unused bool
	if err := s.holder.QueryRow(ctx, "select pg_try_advisory_lock("+lockOf+")", name).Scan(&unused); err != nil || !unused {
		return false, err
	}
	dropped := s.exec("drop database if exists " + quote(name) + " with (force)")
	_, err = s.holder.Exec(ctx, "select pg_advisory_unlock("+lockOf+")", name)
	return true, errors.Join(dropped, err)
}
