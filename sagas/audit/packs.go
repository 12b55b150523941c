package audit

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Evidence packs that callers of the API ask for. A run makes each, and stores its file in
// the database, where every process finds it.

const packQueue = "evidence"

// PackBounds bound the packs that callers of the API ask for, in bytes.
type PackBounds struct {
	File int // of one pack
	Kept int // of the packs of one owner, a tenant or all superusers
}

// DefaultPackBounds are those of docs/audit.md, "Evidence packs".
var DefaultPackBounds = PackBounds{File: 32 << 20, Kept: 128 << 20}

// A PackInput says which pack is made.
type PackInput struct {
	Operation uuid.UUID `json:"operation"`
}

func (s *Service) registerPacks() {
	s.runner.AddQueue(packQueue, 1)
	s.packs = sagas.Register(s.runner, sagas.Saga[PackInput]{
		Name: "evidence", Definition: "evidence/1",
		Begun: func(in PackInput) []domain.Command {
			return []domain.Command{hosting.StartOperation{ID: in.Operation}}
		},
		Parked: func(in PackInput, _, code string) []domain.Command {
			return []domain.Command{hosting.FailOperation{ID: in.Operation, Code: code}}
		},
		Steps: []sagas.Step[PackInput]{{
			Name: "evidence.pack", Says: "make the evidence pack", Queue: packQueue,
			Policy: sagas.Policy{Attempts: 10, Budget: time.Hour, Base: s.runner.Times().LocalBase, Cap: s.runner.Times().LocalCap},
			Local:  &sagas.Local[PackInput]{Do: s.makePack},
		}},
	})
	s.runner.OnAppend(func(_ context.Context, events []eventstore.RecordedEvent) ([]eventstore.Start, error) {
		return sagas.StartEach(s.runner, events, func(r eventstore.RecordedEvent) (run sagas.Start, begins bool, err error) {
			e, queued := r.Event.(hosting.OperationQueued)
			if !queued || e.Kind != hosting.EvidencePack || e.Pack == nil {
				return run, false, nil
			}
			id, err := uuid.Parse(r.Stream.ID)
			return s.packs.Start(id.String(), PackInput{id}, uuid.Nil), err == nil, err
		})
	})
}

// QueuePack begins an operation that makes an evidence pack for a caller. What the caller
// may not see, or nothing, or too much, is refused at once.
func (s *Service) QueuePack(ctx context.Context, cause domain.Metadata, who projections.Caller, id uuid.UUID, of audit.PackOf) error {
	if !who.SeesAll() && of.Order == uuid.Nil && of.Tenant == 0 {
		of.Tenant = who.Tenant
	}
	if _, err := s.packed(ctx, who, of); err != nil {
		return err
	}
	owner := who.Tenant
	if who.SeesAll() {
		owner = 0
	}
	row := eventstore.TxStatement{
		Key:      "evidence_packs/" + id.String(),
		SQL:      `insert into evidence_packs (operation, tenant, order_id) values ($1, $2, $3) on conflict do nothing`,
		Args:     []any{id, domain.OrNull(owner), domain.OrNull(of.Order)},
		WantRows: eventstore.AnyRows,
	}
	_, err := s.store.ExecuteWith(ctx, cause, []eventstore.TxStatement{row}, hosting.QueueOperation{
		ID: id, Kind: hosting.EvidencePack, Tenant: owner, User: who.User,
		Pack: &hosting.EvidenceOrder{Order: of.Order, Tenant: of.Tenant, From: of.From, To: of.To},
	})
	if err == nil {
		s.runner.Wake(packQueue)
	}
	return err
}

// makePack makes the pack of an operation, unless an attempt before has stored it.
func (s *Service) makePack(ctx context.Context, in *PackInput) (sagas.Work, error) {
	o, err := s.operation(ctx, in.Operation)
	if err != nil || o.Over() || o.Pack == nil {
		return sagas.Work{}, err
	}
	stored, err := s.storedPack(ctx, in.Operation)
	if err == nil && stored.size == 0 {
		stored, err = s.storePack(ctx, in.Operation, o)
	}
	if code := packRefused(err); code != "" {
		return sagas.Work{Commands: []domain.Command{hosting.FailOperation{ID: in.Operation, Code: code}}}, nil
	}
	if err != nil {
		return sagas.Work{}, packWaits(err)
	}
	result := field.Values{
		"file": field.AppendText(nil, audit.PackPath(in.Operation)), "events": strconv.AppendInt(nil, stored.events, 10),
		"size": strconv.AppendInt(nil, stored.size, 10), "expires_at": field.AppendTime(nil, stored.asked.Add(s.times.KeepPacks)),
	}
	return sagas.Work{Commands: []domain.Command{hosting.SucceedOperation{ID: in.Operation, Result: result}}}, nil
}

// operation is what has become of an operation.
func (s *Service) operation(ctx context.Context, id uuid.UUID) (o hosting.Operation, err error) {
	history, err := s.store.Read(ctx, hosting.OperationStream(id))
	for _, r := range history {
		if e, is := r.Event.(hosting.OperationEvent); is {
			o = hosting.Operations.Evolve(o, e)
		}
	}
	return o, err
}

// A storedPack is a row of a pack without its file.
type storedPack struct {
	events, size int64 // 0: it is not made yet
	asked        time.Time
}

var (
	errPackExpired = errors.New("the pack has expired before it was made")
	errPackTooBig  = errors.New("the pack is larger than a file may be")
	errPackErased  = errors.New("a person has been erased while the pack was made")
)

func (s *Service) storedPack(ctx context.Context, id uuid.UUID) (p storedPack, err error) {
	err = s.pool.QueryRow(ctx, `select events, size, asked_at from evidence_packs where operation = $1`, id).
		Scan(&p.events, &p.size, &p.asked)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, errPackExpired
	}
	return p, sagas.SQLError(err, "look for the pack of operation %s", id)
}

// storePack makes a pack and stores its file. It is not stored if a person whose texts it
// opens has been erased meanwhile.
func (s *Service) storePack(ctx context.Context, id uuid.UUID, o hosting.Operation) (storedPack, error) {
	who := projections.Caller{User: o.User, Tenant: o.Tenant, Superuser: o.Tenant == 0}
	pack, subjects, err := s.pack(ctx, who, audit.PackOf{Order: o.Pack.Order, Tenant: o.Pack.Tenant, From: o.Pack.From, To: o.Pack.To})
	if err != nil {
		return storedPack{}, err
	}
	var file bytes.Buffer
	if err := pack.Zip(&file); err != nil {
		return storedPack{}, err
	}
	if file.Len() > s.PackBounds.File {
		return storedPack{}, errPackTooBig
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `
			with living as materialized (select from subject_keys where subject = any($4) and purpose = $5 and wrapped <> '' for share)
			update evidence_packs set file = $2::bytea, size = length($2::bytea), events = $3, subjects = $4
			where operation = $1 and file is null and (select count(*) from living) = $6`,
			id, file.Bytes(), len(pack.Events), subjects, string(domain.Contact), len(subjects))
		if err != nil || done.RowsAffected() == 0 {
			return err
		}
		_, err = tx.Exec(ctx, `
			delete from evidence_packs where operation in (
				select operation from (
					select operation, sum(size) over (order by asked_at desc, operation) as so_far from evidence_packs
						where tenant is not distinct from $1) p
				where so_far > $2 and operation <> $3)`, domain.OrNull(o.Tenant), s.PackBounds.Kept, id)
		return err
	})
	if err != nil {
		return storedPack{}, sagas.SQLError(err, "store the pack of operation %s", id)
	}
	stored, err := s.storedPack(ctx, id)
	if err == nil && stored.size == 0 {
		err = errPackErased
	}
	return stored, err
}

// packRefused is the code of an error that will not go away; blank: it may.
func packRefused(err error) string {
	switch {
	case errors.Is(err, errPackExpired):
		return "pack_expired"
	case errors.Is(err, errPackTooBig):
		return "pack_too_big"
	case errors.Is(err, errTooMuch):
		return "too_many_events"
	case domain.CodeOf(err) == domain.NotFound:
		return "nothing_found"
	}
	return ""
}

// packWaits makes the wait for a seal, or for witnesses, no failure.
func packWaits(err error) error {
	var refusal *domain.Error
	if errors.As(err, &refusal) && refusal.Code == domain.Conflict {
		return sagas.TooEarly(refusal.Reason, time.Second)
	}
	return err
}

// PackFile is the .zip of a pack that the caller may have.
func (s *Service) PackFile(ctx context.Context, who projections.Caller, id uuid.UUID) ([]byte, error) {
	return s.tables.For(who).Audit().EvidencePack(ctx, id)
}

// PacksOf are the packs of an order that were asked for lately, the latest first.
func (s *Service) PacksOf(ctx context.Context, who projections.Caller, order uuid.UUID) ([]audit.Pack, error) {
	found, err := s.tables.For(who).Audit().EvidencePacks(ctx, order)
	packs := make([]audit.Pack, len(found))
	for i, p := range found {
		packs[i] = audit.Pack{ID: p.Operation, Status: p.Status, Code: p.Error, Size: p.Size, AskedAt: p.AskedAt}
	}
	return packs, err
}

// SweepPacks deletes packs that have been kept for long enough.
func (s *Service) SweepPacks(ctx context.Context) error {
	return s.runner.Sweep(ctx, "evidence packs", `
		delete from evidence_packs where operation in (select operation from evidence_packs
			where asked_at < business_now() - $1::interval limit 100)`, s.times.KeepPacks)
}
