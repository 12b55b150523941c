package hosting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Installing a program into a site (docs/sync.md, "Installing"): its database
// is asked for along with the operation, and made like any other; the engine
// then installs the program, or says why it cannot, which ends the operation
// and takes the database away again.

// Install begins an installation. A directory that is not empty as far as the
// engine knows at once, an installation that is running, and a database too
// many are refused.
func (ops *Operations) Install(ctx context.Context, cause domain.Metadata, o hosting.InstallationOrder) error {
	if err := ops.empty(ctx, o); err != nil {
		return err
	}
	var rows []eventstore.TxStatement
	commands := make([]domain.Command, 1, 2)
	if system, _ := hosting.CMSNamed(o.Installation.CMS); system.NeedsDatabase {
		request, row, err := ops.databaseFor(ctx, &o)
		if err != nil {
			return err
		}
		rows, commands = append(rows, row), append(commands, request)
	}
	if o.Secrets.AdminPassword == "" {
		o.Secrets.AdminPassword, o.Installation.Generated = credentials.NewPassword(), true
		rows = append(rows, ops.Vault.HandOff(handOff, shownKey(o.Operation), []byte(o.Secrets.AdminPassword), ops.SecretLife))
	}
	rows = append(rows, ops.Vault.HandOff(handOff, installSecrets(o.Operation), sagas.Encode(o.Secrets), ops.SecretLife))
	commands[0] = hosting.QueueOperation{
		ID: o.Operation, Kind: hosting.InstallCMS, Tenant: o.Tenant, User: o.User,
		About: hosting.Ref{Kind: "site", ID: o.Site}, Install: &o.Installation,
	}
	_, err := ops.Store.ExecuteWith(ctx, cause, rows, commands...)
	if err == nil {
		ops.Runner.Wake(ops.EngineQueue)
	}
	return err
}

// Installable are the systems that can be installed here: none on an engine
// without such a kind. An engine that does not answer now may have it.
func (ops *Operations) Installable(ctx context.Context) []hosting.CMS {
	ctx, cancel := context.WithTimeout(ctx, glimpse)
	defer cancel()
	_, _, err := ops.Engine.Find(ctx, "cms", "", "")
	if domain.ClassOf(err) == domain.Permanent && sagas.CodeOf(err) == "not_supported" {
		return []hosting.CMS{}
	}
	return hosting.Installable
}

// glimpse bounds a question to the engine while a caller waits.
const glimpse = 2 * time.Second

// empty refuses a directory in which the engine has an installation. An engine
// that does not answer now will say so when it installs.
func (ops *Operations) empty(ctx context.Context, o hosting.InstallationOrder) error {
	ctx, cancel := context.WithTimeout(ctx, glimpse)
	defer cancel()
	if _, found, err := ops.Engine.Find(ctx, "cms", o.Installation.Place(), ""); err == nil && found {
		return &domain.Error{Code: domain.Conflict, Reason: notEmpty, Message: "The document root is not empty."}
	}
	return nil
}

const notEmpty = "docroot_not_empty"

// databaseFor asks for the database of an installation, with a password of its
// own, which the installation needs as well.
func (ops *Operations) databaseFor(ctx context.Context, o *hosting.InstallationOrder) (domain.Command, eventstore.TxStatement, error) {
	ids, err := ops.Store.NextIDs(ctx, "database")
	if err != nil {
		return nil, eventstore.TxStatement{}, err
	}
	handle := uuid.New()
	o.Installation.Database, o.Secrets.DBPassword = ids[0], credentials.NewPassword()
	db := &hosting.Database{
		Name:     o.Installation.CMS + "_" + strings.ReplaceAll(o.Operation.String(), "-", "")[:12],
		Password: handle.String(), Site: &o.Site, IsActive: true,
	}
	hosting.Complete(db, hosting.Place{ID: ids[0], Tenant: o.Tenant, At: ops.Runner.Now(), Limits: hosting.NoLimits()})
	request := hosting.Request{Ref: hosting.Ref{Kind: "database", ID: ids[0]}, Tenant: o.Tenant, Spec: db.Fields().Values()}
	return request, ops.Seal(handle, o.Secrets.DBPassword), nil
}

// installKey is the key of the effect; the secrets that it needs wait under
// another.
func installKey(j InstallInput) string   { return "j/" + j.Operation.String() + "/install" }
func installSecrets(id uuid.UUID) string { return "j/" + id.String() + "/secrets" }

// A refusal is what an engine answers that will not install: an answer, too.
type refusal struct {
	Code string `json:"refused"`
}

// answer makes a final refusal of the engine an answer. Other failures pass.
func answer(err error) (sagas.Result, error) {
	if domain.ClassOf(err) != domain.Permanent {
		return sagas.Result{}, err
	}
	return refuse(sagas.CodeOf(err)), nil
}

func refuse(code string) sagas.Result { return sagas.Result{Data: sagas.Encode(refusal{code})} }

func refusedIn(r sagas.Result) (code string) {
	var said refusal
	_ = json.Unmarshal(r.Data, &said) // what is no refusal has no code
	return said.Code
}

// installCall has the engine install the program. What is known by our
// reference is ours.
func (ops *Operations) installCall(ctx context.Context, job *InstallInput) (sagas.Call, error) {
	o, _, err := ops.operation(ctx, job.Operation)
	if err != nil {
		return sagas.Call{}, err
	}
	if o.Install == nil {
		return sagas.Call{}, domain.Fail(domain.Permanent, "no_installation", errors.New("the operation does not say what to install"))
	}
	ref := job.Operation.String()
	home, homeless := ops.home(ctx, job, o)
	if homeless != nil && domain.ClassOf(homeless) != domain.Permanent {
		return sagas.Call{}, homeless
	}
	return sagas.Call{
		Request: o.Install,
		Lookup: func(ctx context.Context) (sagas.Result, sagas.Found, error) {
			found, is, err := ops.Engine.Find(ctx, "cms", o.Install.Place(), ref)
			switch {
			case err != nil:
				r, err := answer(err)
				return r, sagas.Yes, err
			case !is:
				return sagas.Result{}, sagas.No, nil
			case found.Ref != ref:
				return refuse(notEmpty), sagas.Yes, nil
			}
			return sagas.Result{External: strconv.FormatInt(found.ID, 10)}, sagas.Yes, nil
		},
		Do: func(ctx context.Context) (sagas.Result, error) {
			if homeless != nil {
				return answer(homeless)
			}
			secrets, err := ops.installSecrets(ctx, job.Operation)
			if err != nil {
				return answer(err)
			}
			id, err := ops.Engine.Create(ctx, o.Install.Object(ref, home, secrets))
			if err != nil {
				return answer(err)
			}
			return sagas.Result{External: strconv.FormatInt(id, 10)}, nil
		},
		Confirmed: func(r sagas.Result) sagas.Work { return ops.installed(job, r) },
	}, nil
}

// installed is what follows from the engine's answer: it has taken the
// secrets, or will never need them.
func (ops *Operations) installed(job *InstallInput, r sagas.Result) sagas.Work {
	work := sagas.Work{Rows: []eventstore.TxStatement{credentials.Shred(installSecrets(job.Operation))}}
	code := refusedIn(r)
	if code == "" {
		return work
	}
	if code == "name_taken" {
		code = notEmpty
	}
	job.Refused = code
	return work.And(sagas.Work{
		Commands: giveUpInstall(*job, code), Rows: []eventstore.TxStatement{credentials.Shred(shownKey(job.Operation))},
	})
}

// giveUpInstall ends an installation that came to nothing. The database that
// was made for it goes.
func giveUpInstall(j InstallInput, code string) []domain.Command {
	commands := []domain.Command{hosting.FailOperation{ID: j.Operation, Code: code}}
	if j.Database != 0 {
		commands = append(commands, hosting.Remove{Ref: hosting.Ref{Kind: "database", ID: j.Database}})
	}
	return commands
}

func (ops *Operations) installSecrets(ctx context.Context, id uuid.UUID) (secrets hosting.InstallationSecrets, err error) {
	text, err := ops.Vault.OpenHandOff(ctx, handOff, installSecrets(id))
	if errors.Is(err, credentials.ErrShredded) {
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
func (ops *Operations) home(ctx context.Context, job *InstallInput, o hosting.Operation) (home hosting.Home, err error) {
	if o.Over() {
		return home, domain.Fail(domain.Permanent, o.Code, errors.New("the operation is over"))
	}
	numbers := []struct {
		ref hosting.Ref
		at  *int64
	}{
		{hosting.Ref{Kind: "tenant", ID: o.Tenant}, &home.Owner},
		{o.About(), &home.Site},
		{hosting.Ref{Kind: "database", ID: job.Database}, &home.Database},
	}
	for _, n := range numbers {
		if n.ref.ID == 0 {
			continue
		}
		row, err := ops.made(ctx, n.ref)
		if err != nil {
			return home, err
		}
		*n.at = *row.EngineID
		if n.at == &home.Database {
			home.DB = new(hosting.Database)
			if err := row.Load(home.DB); err != nil {
				return home, err
			}
		}
	}
	return home, nil
}

// made is a resource that the engine has.
func (ops *Operations) made(ctx context.Context, ref hosting.Ref) (projections.Resource, error) {
	row, err := ops.system().Hosting().Resource(ctx, ref)
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
	return row, sagas.TooEarly(ref.Kind+"_not_made", ops.EngineCalls.Base)
}

// installApplied is when the program can be used. What the operation answers
// with says nothing secret.
func (ops *Operations) installApplied(ctx context.Context, job *InstallInput) (bool, sagas.Work, error) {
	if job.Refused != "" {
		return true, sagas.Work{}, nil
	}
	o, _, err := ops.operation(ctx, job.Operation)
	if err != nil {
		return false, sagas.Work{}, err
	}
	found, is, err := ops.Engine.Find(ctx, "cms", o.Install.Place(), job.Operation.String())
	if err == nil && !is {
		err = sagas.ErrAbsent
	}
	if err != nil || !found.Applied {
		return false, sagas.Work{}, err
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
	return true, sagas.Work{Commands: []domain.Command{hosting.SucceedOperation{ID: job.Operation, Result: result}}}, nil
}
