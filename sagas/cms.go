package sagas

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/google/uuid"
)

// Installing a program into a site (docs/sync.md, "Installing"): its database
// is asked for along with the operation, and made like any other; the engine
// then installs the program, or says why it cannot, which ends the operation
// and takes the database away again.

// Install begins an installation. A directory that is not empty as far as the
// engine knows at once, an installation that is running, and a database too
// many are refused.
func (j Jobs) Install(ctx context.Context, cause domain.Cause, o hosting.InstallationOrder) error {
	if err := j.empty(ctx, o); err != nil {
		return err
	}
	var rows []eventstore.Row
	commands := make([]domain.Command, 1, 2)
	if system, _ := hosting.CMSNamed(o.Installation.CMS); system.NeedsDatabase {
		request, row, err := j.s.databaseFor(ctx, &o)
		if err != nil {
			return err
		}
		rows, commands = append(rows, row), append(commands, request)
	}
	if o.Secrets.AdminPassword == "" {
		o.Secrets.AdminPassword, o.Installation.Generated = rand.Text(), true
		rows = append(rows, j.s.store.HandOff(handOff, shownKey(o.Operation), []byte(o.Secrets.AdminPassword), j.s.times.SecretLife))
	}
	rows = append(rows, j.s.store.HandOff(handOff, installSecrets(o.Operation), encode(o.Secrets), j.s.times.SecretLife))
	commands[0] = hosting.QueueOperation{
		ID: o.Operation, Kind: hosting.InstallCMS, Tenant: o.Tenant, User: o.User,
		About: hosting.Ref{Kind: "site", ID: o.Site}, Install: &o.Installation,
	}
	_, err := j.s.store.ExecuteWith(ctx, cause, rows, commands...)
	if err == nil {
		j.s.wake(engineQueue(j.s.engine))
	}
	return err
}

// glimpse bounds a question to the engine while a caller waits.
const glimpse = 2 * time.Second

// empty refuses a directory in which the engine has an installation. An engine
// that does not answer now will say so when it installs.
func (j Jobs) empty(ctx context.Context, o hosting.InstallationOrder) error {
	ctx, cancel := context.WithTimeout(ctx, glimpse)
	defer cancel()
	if _, found, err := j.s.engine.Find(ctx, "cms", o.Installation.Place(), ""); err == nil && found {
		return &domain.Error{Code: domain.Conflict, Reason: notEmpty, Message: "The document root is not empty."}
	}
	return nil
}

const notEmpty = "docroot_not_empty"

// databaseFor asks for the database of an installation, with a password of its
// own, which the installation needs as well.
func (s *Sagas) databaseFor(ctx context.Context, o *hosting.InstallationOrder) (domain.Command, eventstore.Row, error) {
	ids, err := s.store.NextIDs(ctx, "database")
	if err != nil {
		return nil, eventstore.Row{}, err
	}
	handle := uuid.New()
	o.Installation.Database, o.Secrets.DBPassword = ids[0], rand.Text()
	db := &hosting.Database{
		Name: o.Installation.CMS + "_" + strings.ReplaceAll(o.Operation.String(), "-", "")[:12], Password: handle.String(), Site: &o.Site, IsActive: true,
	}
	hosting.Complete(db, hosting.Place{ID: ids[0], Tenant: o.Tenant, At: s.now(), Limits: hosting.NoLimits()})
	request := hosting.Request{Ref: hosting.Ref{Kind: "database", ID: ids[0]}, Tenant: o.Tenant, Spec: db.Fields().Values()}
	return request, s.store.HandOff(engineSecret, secretKey(handle), []byte(o.Secrets.DBPassword), s.times.SecretLife), nil
}

// installKey is the key of the effect; the secrets that it needs wait under
// another.
func installKey(j Job) string            { return "j/" + j.Operation.String() + "/install" }
func installSecrets(id uuid.UUID) string { return "j/" + id.String() + "/secrets" }

// A refusal is what an engine answers that will not install: an answer, too.
type refusal struct {
	Code string `json:"refused"`
}

// answer makes a final refusal of the engine an answer. Other failures pass.
func answer(err error) (Result, error) {
	if domain.ClassOf(err) != domain.Permanent {
		return Result{}, err
	}
	return refuse(codeOf(err)), nil
}

func refuse(code string) Result { return Result{Data: encode(refusal{code})} }

func refusedIn(r Result) (code string) {
	var said refusal
	_ = json.Unmarshal(r.Data, &said) // what is no refusal has no code
	return said.Code
}

// installCall has the engine install the program. What is known by our
// reference is ours.
func (s *Sagas) installCall(ctx context.Context, job Job) (Call, error) {
	o, _, err := s.operation(ctx, job.Operation)
	if err != nil {
		return Call{}, err
	}
	if o.Install == nil {
		return Call{}, domain.Fail(domain.Permanent, "no_installation", errors.New("the operation does not say what to install"))
	}
	ref := job.Operation.String()
	home, homeless := s.home(ctx, job, o)
	if homeless != nil && domain.ClassOf(homeless) != domain.Permanent {
		return Call{}, homeless
	}
	return Call{
		Request: o.Install,
		Lookup: func(ctx context.Context) (Result, Found, error) {
			found, is, err := s.engine.Find(ctx, "cms", o.Install.Place(), ref)
			switch {
			case err != nil:
				r, err := answer(err)
				return r, Yes, err
			case !is:
				return Result{}, No, nil
			case found.Ref != ref:
				return refuse(notEmpty), Yes, nil
			}
			return Result{External: strconv.FormatInt(found.ID, 10)}, Yes, nil
		},
		Do: func(ctx context.Context) (Result, error) {
			if homeless != nil {
				return answer(homeless)
			}
			secrets, err := s.installSecrets(ctx, job.Operation)
			if err != nil {
				return answer(err)
			}
			id, err := s.engine.Create(ctx, o.Install.Object(ref, home, secrets))
			if err != nil {
				return answer(err)
			}
			return Result{External: strconv.FormatInt(id, 10)}, nil
		},
		Confirmed: func(r Result) Work { return s.installed(job, r) },
	}, nil
}

// installed is what follows from the engine's answer: it has taken the
// secrets, or will never need them.
func (s *Sagas) installed(job Job, r Result) Work {
	work := Work{Rows: []eventstore.Row{eventstore.Shred(installSecrets(job.Operation))}}
	code := refusedIn(r)
	if code == "" {
		return work
	}
	if code == "name_taken" {
		code = notEmpty
	}
	return work.and(Work{
		Commands: giveUpInstall(job, code), Rows: []eventstore.Row{eventstore.Shred(shownKey(job.Operation))},
	}).learning(func(j *Job) { j.Refused = code })
}

func (w Work) learning(learn func(*Job)) Work { w.Learn = learn; return w }

// giveUpInstall ends an installation that came to nothing. The database that
// was made for it goes.
func giveUpInstall(j Job, code string) []domain.Command {
	commands := []domain.Command{hosting.FailOperation{ID: j.Operation, Code: code}}
	if j.Database != 0 {
		commands = append(commands, hosting.Remove{Ref: hosting.Ref{Kind: "database", ID: j.Database}})
	}
	return commands
}

func (s *Sagas) installSecrets(ctx context.Context, id uuid.UUID) (secrets hosting.InstallationSecrets, err error) {
	text, err := s.store.OpenHandOff(ctx, handOff, installSecrets(id))
	if errors.Is(err, eventstore.ErrShredded) {
		return secrets, domain.Fail(domain.Permanent, "secret_needed", err)
	}
	if err != nil {
		return secrets, err
	}
	if err := json.Unmarshal(text, &secrets); err != nil {
		return secrets, fmt.Errorf("read the secrets of operation %s: %w", id, errors.New("they are not ours")) // its text would quote them
	}
	return secrets, nil
}

// home is where an installation goes: it waits until the engine has all of
// it. What will never be there is a permanent failure.
func (s *Sagas) home(ctx context.Context, job Job, o hosting.Operation) (home hosting.Home, err error) {
	if o.Over() {
		return home, domain.Fail(domain.Permanent, o.Code, errors.New("the operation is over"))
	}
	numbers := []struct {
		ref hosting.Ref
		at  *int64
	}{
		{hosting.Ref{Kind: "tenant", ID: o.Tenant}, &home.Owner}, {o.About, &home.Site}, {hosting.Ref{Kind: "database", ID: job.Database}, &home.Database},
	}
	for _, n := range numbers {
		if n.ref.ID == 0 {
			continue
		}
		row, err := s.made(ctx, n.ref)
		if err != nil {
			return home, err
		}
		*n.at = *row.EngineID
		if n.ref.Kind == "database" {
			home.DB = new(hosting.Database)
			if err := row.Load(home.DB); err != nil {
				return home, err
			}
		}
	}
	return home, nil
}

// made is a resource that the engine has.
func (s *Sagas) made(ctx context.Context, ref hosting.Ref) (projections.Resource, error) {
	row, err := s.tables.For(projections.System).Resource(ctx, ref)
	switch {
	case domain.CodeOf(err) == domain.NotFound:
		return row, domain.Fail(domain.Permanent, ref.Kind+"_gone", err)
	case err != nil:
		return row, err
	case row.EngineID != nil:
		return row, nil
	case row.SyncStatus == "error":
		return row, domain.Fail(domain.Permanent, row.SyncError, errors.New("the engine has refused what the installation needs"))
	}
	return row, wait(ref.Kind+"_not_made", s.times.EngineBase)
}

// installApplied is when the program can be used. What the operation answers
// with says nothing secret.
func (s *Sagas) installApplied(ctx context.Context, job Job) (bool, Work, error) {
	if job.Refused != "" {
		return true, Work{}, nil
	}
	o, _, err := s.operation(ctx, job.Operation)
	if err != nil {
		return false, Work{}, err
	}
	found, is, err := s.engine.Find(ctx, "cms", o.Install.Place(), job.Operation.String())
	if err != nil || !is || !found.Applied {
		return false, Work{}, err
	}
	result := field.Values{}
	for name, value := range map[string]string{
		"cms": o.Install.CMS, "version": o.Install.Version, "url": o.Install.URL, "admin_user": o.Install.AdminUser,
	} {
		result[name] = field.AppendText(nil, value)
	}
	if o.Install.Database != 0 {
		result["database"] = strconv.AppendInt(nil, o.Install.Database, 10)
	}
	return true, Work{Commands: []domain.Command{hosting.SucceedOperation{ID: job.Operation, Result: result}}}, nil
}
