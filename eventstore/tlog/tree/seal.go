package tree

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore/sealing"
	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/witness"
)

const (
	sealEvery  = 500 * time.Millisecond
	sealAtOnce = 1 << 14 // events in one seal; a full one is followed by the next at once
)

// The seal is refused, and nothing is signed, if what was sealed is not there any more.
var (
	ErrShorter = errors.New("the log is shorter than its checkpoint")
	ErrChanged = errors.New("the last sealed event is not the one of the checkpoint")
	ErrGap     = errors.New("an event behind the checkpoint is missing")
)

// errOther means that the origin has changed during the seal.
var errOther = errors.New("the checkpoint was changed by another process")

// A Sealer adds new events to the tree and signs its checkpoints. Any number of
// processes may run one: an advisory lock lets one of them seal at a time. The lock
// ends with its transaction, and so does what a process that is lost has begun.
type Sealer struct {
	*Tree
	pool   *pgxpool.Pool
	keys   *sealing.Keyring
	name   func() string // of the first origin; asked once in the life of a database
	policy string        // of the witnesses; blank: there are none

	witnesses *witness.Client
	after     func(stage) // a test looks on; nil otherwise
}

// A stage is how far a seal has come.
type stage int

const (
	tilesStored stage = iota
	checkpointStored
)

// NewSealer makes a sealer. The name is that of the first origin; it is asked for at
// the first seal.
func NewSealer(pool *pgxpool.Pool, keys *sealing.Keyring, name func() string, policy string) *Sealer {
	return &Sealer{
		Tree: Open(pool), pool: pool, keys: keys, name: name, policy: policy, witnesses: witness.NewClient(),
		after: func(stage) {},
	}
}

// Seal adds new events, up to 16,384 of them, and returns their number. It is 0 too
// if another process is at it.
func (s *Sealer) Seal(ctx context.Context) (sealed int, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if mine, err := s.lock(ctx, tx); err != nil || !mine {
			return err
		}
		sealed, err = s.seal(ctx, tx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("seal the log: %w", err)
	}
	return sealed, nil
}

func (s *Sealer) lock(ctx context.Context, tx pgx.Tx) (mine bool, err error) {
	err = tx.QueryRow(ctx, `select pg_try_advisory_xact_lock(hashtext('hostpanel sealing'))`).Scan(&mine)
	return mine, err
}

func (s *Sealer) seal(ctx context.Context, tx pgx.Tx) (int, error) {
	o, err := current(ctx, tx)
	switch {
	case errors.Is(err, ErrNone):
		o, err = begin(ctx, tx, s.keys, Origin{Name: s.name()}, "")
	case err == nil && o.keyID == "":
		o, err = begin(ctx, tx, s.keys, o, "the key of the log was given up")
	}
	if err != nil {
		return 0, err
	}
	edge, leaves, err := next(ctx, tx, o)
	if err != nil || len(leaves) == 0 && o.Checkpoint != "" {
		return 0, err
	}
	tiles := map[tlog.TileID][]byte{}
	edge.OnFull(func(id tlog.TileID, data []byte) { tiles[id] = data })
	for _, l := range leaves {
		edge.Add(l.Hash())
	}
	for id, data := range edge.Tiles() {
		tiles[id] = data
	}
	if err := store(ctx, tx, o.Number, tiles); err != nil {
		return 0, err
	}
	s.after(tilesStored)
	if err := s.sign(ctx, tx, o, edge); err != nil {
		return 0, err
	}
	s.after(checkpointStored)
	return len(leaves), nil
}

// next reads the right edge of the tree, and the leaves to add. The last sealed event
// must still be the one that was sealed.
func next(ctx context.Context, tx pgx.Tx, o Origin) (*tlog.Edge, []tlog.Leaf, error) {
	paths := tlog.EdgeOf(o.Size)
	last := tlog.TilePath{TileID: tlog.TileID{Number: (o.Size - 1) / tlog.TileWidth}, Width: int((o.Size-1)%tlog.TileWidth) + 1}
	data, err := fetch(ctx, tx, o.Number, append(paths, last))
	if err != nil {
		return nil, nil, err
	}
	tiles := map[tlog.TileID][]byte{}
	for i, p := range paths {
		tiles[p.TileID] = data[i]
	}
	edge, err := tlog.Resume(o.Size, tiles)
	if err != nil {
		return nil, nil, err
	}
	leaves, err := leavesOf(ctx, tx, max(o.Size, 1), sealAtOnce)
	if err != nil || o.Size == 0 {
		return edge, leaves, err
	}
	if len(leaves) == 0 {
		return nil, nil, ErrShorter
	}
	if end := data[len(paths)]; len(end) < last.Width*32 || leaves[0].Hash() != tlog.Hash(end[last.Width*32-32:]) {
		return nil, nil, ErrChanged
	}
	return edge, leaves[1:], gap(ctx, tx, o.Size, len(leaves))
}

// gap finds out whether there are events that could not be read in their order.
func gap(ctx context.Context, tx pgx.Tx, size int64, read int) error {
	if read > 1 {
		return nil
	}
	var beyond bool
	if err := tx.QueryRow(ctx, `select exists (select from events where position > $1)`, size).Scan(&beyond); err != nil || !beyond {
		return err
	}
	// An event may have come since the others were read: then it is the next one.
	leaves, err := leavesOf(ctx, tx, size+1, 1)
	if err == nil && len(leaves) == 0 {
		err = ErrGap
	}
	return err
}

func store(ctx context.Context, tx pgx.Tx, origin int, tiles map[tlog.TileID][]byte) error {
	var levels []int16
	var numbers []int64
	var hashes [][]byte
	for id, data := range tiles {
		levels, numbers, hashes = append(levels, int16(id.Level)), append(numbers, id.Number),
			append(hashes, data) //nolint:gosec // up to 7
	}
	_, err := tx.Exec(ctx, `
		insert into log_tiles (origin, level, number, hashes) select $1, * from unnest($2::smallint[], $3::bigint[], $4::bytea[])
		on conflict (origin, level, number) do update set hashes = excluded.hashes`, origin, levels, numbers, hashes)
	return err
}

// sign replaces the checkpoint, if it is still the one that was extended.
func (s *Sealer) sign(ctx context.Context, tx pgx.Tx, o Origin, edge *tlog.Edge) error {
	root, err := edge.Root()
	if err != nil {
		return err
	}
	key, err := o.key(s.keys)
	if err != nil {
		return err
	}
	text, err := tlog.Checkpoint{Origin: o.Name, Size: edge.Size(), Root: root}.Sign(key)
	if err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `
		update log_origins set size = $3, checkpoint = $4, sealed_at = real_now(), policy = $5
		where number = $1 and checkpoint = $2 and number = (select max(number)
			from log_origins)`, o.Number, o.Checkpoint, edge.Size(), text, s.policy)
	if err == nil && tag.RowsAffected() != 1 {
		err = errOther
	}
	return err
}

// Run seals until ctx ends, each half second while the log grows. A seal costs a commit,
// so that more of them would slow down writers. Changed returns a channel that is closed
// when the log grows.
func (s *Sealer) Run(ctx context.Context, log *slog.Logger, changed func() <-chan struct{}) {
	if err := s.keepPolicy(ctx); err != nil && ctx.Err() == nil {
		log.ErrorContext(ctx, "the policy of the log's witnesses is not kept", "error", err)
	}
	for ctx.Err() == nil {
		grown := changed()
		sealed, err := s.Seal(ctx)
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "the log is not sealed", "error", err)
		}
		if sealed == sealAtOnce {
			continue
		}
		s.pause(ctx, grown)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*sealEvery)
	defer cancel()
	if _, err := s.Seal(last); err != nil {
		log.WarnContext(last, "the last events are sealed by the next start", "error", err)
	}
}

// keepPolicy notes the policy beside the tree that it is in force for.
func (s *Sealer) keepPolicy(ctx context.Context) error {
	_, err := s.pool.Exec(
		ctx,
		`update log_origins set policy = $1 where number = (select max(number) from log_origins) and policy <> $1`,
		s.policy,
	)
	return err
}

// pause waits for something to seal. What other processes add may not be told, so it
// ends after a second.
func (s *Sealer) pause(ctx context.Context, grown <-chan struct{}) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(2 * sealEvery):
		return
	case <-grown:
	}
	select {
	case <-ctx.Done():
	case <-time.After(sealEvery):
	}
}

// Check tells whether the log still has what was sealed: its last sealed event is the
// one of the tree.
func (s *Sealer) Check(ctx context.Context) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		o, err := current(ctx, tx)
		if errors.Is(err, ErrNone) {
			return nil
		}
		if err == nil {
			_, _, err = next(ctx, tx, o)
		}
		return err
	})
}
