// Package tree keeps the transparency log of all events in the database: its origins
// with their keys, its tiles, and the checkpoint of the last seal (docs/log.md,
// "Transparency log").
package tree

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore/tlog"
)

// A Tree reads the transparency log.
type Tree struct{ db queryer }

// Open reads the transparency log in the database behind pool.
func Open(pool *pgxpool.Pool) *Tree { return &Tree{pool} }

// In reads the transparency log in a transaction.
func In(tx pgx.Tx) *Tree { return &Tree{tx} }

// An Origin is one tree with its key. The last origin is in use.
type Origin struct {
	Number      int
	Name        string // first line of its checkpoints
	VKey        string // public key
	Policy      string // of the witnesses; blank: there are none
	Reason      string // why it began; blank: it is the first one
	Size        int64
	Checkpoint  string // signed; blank: nothing is sealed yet
	SealedAt    time.Time
	Published   Published
	keyID       string
	nonce, seal []byte
}

// Published is the last checkpoint that the quorum of witnesses has cosigned.
type Published struct {
	Size int64
	Text string // blank: there is none
	At   time.Time
}

// ErrNone means that nothing is sealed yet.
var ErrNone = errors.New("nothing is sealed yet")

// ErrCheckpoint means that the stored checkpoint is not as it was signed.
var ErrCheckpoint = errors.New("the checkpoint is not as it was signed")

const originColumns = `number, origin, vkey, policy, reason, size, checkpoint, coalesce(sealed_at, began_at),
	published_size, published, coalesce(published_at, began_at), key_id, nonce, sealed`

func scanOrigin(r pgx.CollectableRow) (o Origin, err error) {
	err = r.Scan(&o.Number, &o.Name, &o.VKey, &o.Policy, &o.Reason, &o.Size, &o.Checkpoint, &o.SealedAt,
		&o.Published.Size, &o.Published.Text, &o.Published.At, &o.keyID, &o.nonce, &o.seal)
	return o, err
}

type queryer interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Current is the origin in use. [ErrNone]: there is none yet.
func (t *Tree) Current(ctx context.Context) (Origin, error) { return current(ctx, t.db) }

func current(ctx context.Context, db queryer) (Origin, error) {
	rows, _ := db.Query(ctx, `select `+originColumns+` from log_origins order by number desc limit 1`)
	o, err := pgx.CollectExactlyOneRow(rows, scanOrigin)
	if errors.Is(err, pgx.ErrNoRows) {
		return o, ErrNone
	}
	if err != nil {
		return o, fmt.Errorf("read the origin of the log: %w", err)
	}
	return o, nil
}

// Origins are all trees of the log, the one in use last.
func (t *Tree) Origins(ctx context.Context) ([]Origin, error) {
	rows, _ := t.db.Query(ctx, `select `+originColumns+` from log_origins order by number`)
	all, err := pgx.CollectRows(rows, scanOrigin)
	if err != nil {
		return nil, fmt.Errorf("read the origins of the log: %w", err)
	}
	return all, nil
}

// Signed is the checkpoint of the last seal, after its signature was checked.
func (o Origin) Signed() (tlog.Checkpoint, error) {
	if o.Checkpoint == "" {
		return tlog.Checkpoint{}, ErrNone
	}
	c, err := tlog.OpenCheckpoint(o.Checkpoint, o.VKey)
	switch {
	case err != nil:
		return c, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	case c.Size != o.Size, c.Origin != o.Name:
		return c, ErrCheckpoint
	}
	return c, nil
}

// Shown is the checkpoint that observers are shown: the last published one if a quorum
// of witnesses is needed, otherwise the last one. False: its quorum has not cosigned.
func (o Origin) Shown() (text string, witnessed bool) {
	policy, err := tlog.ParsePolicy(o.AcceptedBy())
	switch {
	case err != nil:
		return o.Checkpoint, false
	case policy.NeedsWitnesses() && o.Published.Text != "" && policy.Witnessed(o.Published.Text):
		return o.Published.Text, true
	}
	return o.Checkpoint, policy.Witnessed(o.Checkpoint)
}

// Covering is the checkpoint that proves the events up to a position: the one that is
// shown, or the last one if an event is newer. False: its quorum has not cosigned.
func (o Origin) Covering(position int64) (p Published, witnessed bool) {
	text, witnessed := o.Shown()
	if text == o.Published.Text && position <= o.Published.Size {
		return o.Published, witnessed
	}
	return Published{o.Size, o.Checkpoint, o.SealedAt}, witnessed && text == o.Checkpoint
}

// NeedsWitnesses tells whether a checkpoint counts only when a quorum has cosigned it.
func (o Origin) NeedsWitnesses() bool {
	policy, err := tlog.ParsePolicy(o.AcceptedBy())
	return err != nil || policy.NeedsWitnesses()
}

// Of is the tree of a checkpoint, read from the tiles of an origin.
func (t *Tree) Of(ctx context.Context, origin int, c tlog.Checkpoint) tlog.Tree {
	return tlog.Tree{Size: c.Size, Root: c.Root, Fetch: func(paths []tlog.TilePath) ([][]byte, error) {
		return fetch(ctx, t.db, origin, paths)
	}}
}

// Tiles are tiles of an origin. Those that are not there are nil.
func (t *Tree) Tiles(ctx context.Context, origin int, paths []tlog.TilePath) ([][]byte, error) {
	return fetch(ctx, t.db, origin, paths)
}

// Leaves are the leaves of the events from a position on, up to the first one that is
// missing or has no hash.
func (t *Tree) Leaves(ctx context.Context, from int64, limit int) ([]tlog.Leaf, error) {
	return leavesOf(ctx, t.db, from, limit)
}

// fetch reads tiles. Those that are not there are nil.
func fetch(ctx context.Context, db queryer, origin int, paths []tlog.TilePath) ([][]byte, error) {
	levels, numbers := make([]int16, len(paths)), make([]int64, len(paths))
	for i, p := range paths {
		levels[i], numbers[i] = int16(p.Level), p.Number //nolint:gosec // up to 63
	}
	rows, _ := db.Query(ctx, `
		select t.hashes from unnest($2::smallint[], $3::bigint[]) with ordinality as p(level, number, nth)
		left join log_tiles t on t.origin = $1 and t.level = p.level and t.number = p.number order by nth`, origin, levels, numbers)
	tiles, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return nil, fmt.Errorf("read tiles of the log: %w", err)
	}
	return tiles, nil
}

// ErrNoTile means that the tree does not have a tile.
var ErrNoTile = errors.New("the tree has no such tile")

// Tile is a tile, or a bundle of entries, of the origin in use.
func (t *Tree) Tile(ctx context.Context, p tlog.TilePath) ([]byte, error) {
	o, err := t.Current(ctx)
	if err != nil {
		return nil, err
	}
	return t.tileOf(ctx, o, p)
}

// tileOf is a tile, or a bundle of entries, of an origin.
func (t *Tree) tileOf(ctx context.Context, o Origin, p tlog.TilePath) ([]byte, error) {
	if p.WidthAt(o.Size) < p.Width {
		return nil, ErrNoTile
	}
	if p.Level == tlog.EntriesLevel {
		return t.entries(ctx, p)
	}
	tiles, err := fetch(ctx, t.db, o.Number, []tlog.TilePath{p})
	if err != nil {
		return nil, err
	}
	if len(tiles[0]) < p.Width*len(tlog.Hash{}) {
		return nil, ErrNoTile
	}
	return tiles[0][:p.Width*len(tlog.Hash{})], nil
}

// entries reads the leaves of a bundle from the events themselves.
func (t *Tree) entries(ctx context.Context, p tlog.TilePath) (bundle []byte, err error) {
	first := p.Number * tlog.TileWidth
	leaves, err := leavesOf(ctx, t.db, first+1, p.Width)
	if err != nil {
		return nil, err
	}
	if len(leaves) < p.Width {
		return nil, ErrNoTile
	}
	for _, l := range leaves {
		bundle = l.AppendEntry(bundle)
	}
	return bundle, nil
}

// leavesOf are the leaves of the events from a position on, up to the first one that
// is missing or has no hash. Postgres packs them into one value, because a row for each
// costs the sealer as much as all the rest.
func leavesOf(ctx context.Context, db queryer, from int64, limit int) (leaves []tlog.Leaf, err error) {
	var packed []byte
	err = db.QueryRow(ctx, `
		select string_agg(int8send(position) || timestamptz_send(recorded_at) || hash, '')
		from (select position, recorded_at, hash from events where position >= $1 order by position limit $2) e
		where length(hash) = $3`, from, limit, sha256.Size).Scan(&packed)
	if err != nil {
		return nil, fmt.Errorf("read leaves of the log: %w", err)
	}
	leaves = make([]tlog.Leaf, 0, len(packed)/packedLeaf)
	for event := range slices.Chunk(packed, packedLeaf) {
		if binary.BigEndian.Uint64(event) != uint64(from)+uint64(len(leaves)) { //nolint:gosec // positions are above 0
			break
		}
		at := time.UnixMicro(postgresEpoch + int64(binary.BigEndian.Uint64(event[8:]))) //nolint:gosec // the sign is kept as a bit
		if l, ok := tlog.LeafOf(at, event[16:]); ok {
			leaves = append(leaves, l)
		}
	}
	return leaves, nil
}

// packedLeaf is the size of an event in the answer: position, time, hash.
const packedLeaf = 8 + 8 + sha256.Size

// postgresEpoch is 2000-01-01, where the binary form of a timestamptz begins, in
// microseconds since 1970.
const postgresEpoch = 946_684_800_000_000

// Proof proves that an event is in the log (see [Tree.Proofs]).
func (t *Tree) Proof(ctx context.Context, position int64) (tlog.Proof, error) {
	proofs, _, err := t.Proofs(ctx, []int64{position})
	if err != nil {
		return tlog.Proof{}, err
	}
	return proofs[0], nil
}

// A Lag is what is not sealed yet.
type Lag struct {
	Events int64
	Since  *time.Time // business time of the first of them; nil: there is none
}

// Lag tells what is not sealed yet. The position is an argument: below the policies of
// its rows, Postgres compares no computed one with the index, and would read all events.
func (t *Tree) Lag(ctx context.Context) (l Lag, err error) {
	var size int64
	err = t.db.QueryRow(ctx, `select coalesce((select size from log_origins order by number desc limit 1), 0)`).Scan(&size)
	if err == nil {
		err = t.db.QueryRow(ctx, `
			select greatest(coalesce((select position from events order by position desc limit 1), 0) - $1, 0),
				(select recorded_at from events where position = $2)`, size, size+1).Scan(&l.Events, &l.Since)
	}
	if err != nil {
		return l, fmt.Errorf("read what is not sealed: %w", err)
	}
	return l, nil
}
