package tlog

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// ErrTile means that a tile is missing, too short, or not the one of the tree.
var ErrTile = errors.New("the tile is not that of the tree")

// reader reads hashes from tiles that are trusted.
type reader struct{ tiles map[TileID][]byte }

// ReadHashes is for golang.org/x/mod/sumdb/tlog.
func (r reader) ReadHashes(indexes []int64) ([]Hash, error) {
	all := make([]Hash, len(indexes))
	for i, index := range indexes {
		t := tlog.TileForIndex(TileHeight, index)
		data := r.tiles[TileID{t.L, t.N}]
		if len(data) < t.W*tlog.HashSize {
			return nil, fmt.Errorf("tile %d/%d: %w", t.L, t.N, ErrTile)
		}
		h, err := tlog.HashFromTile(t, data[:t.W*tlog.HashSize], index)
		if err != nil {
			return nil, fmt.Errorf("tile %d/%d: %w", t.L, t.N, err)
		}
		all[i] = h
	}
	return all, nil
}

// A Fetch returns tiles, each of at least its width.
type Fetch func([]TilePath) ([][]byte, error)

// A Tree is a tree whose root is trusted. What is read of it is compared with the
// root first.
type Tree struct {
	Size  int64
	Root  Hash
	Fetch Fetch
}

func (t Tree) hashes() tlog.HashReader {
	return tlog.TileHashReader(tlog.Tree{N: t.Size, Hash: t.Root}, fetched{t.Fetch})
}

// Leaves returns the hashes of leaves, by their indexes. [ErrTile]: the tiles do not
// lead to the root.
func (t Tree) Leaves(indexes ...int64) ([]Hash, error) {
	if len(indexes) == 0 {
		return nil, nil
	}
	stored := make([]int64, len(indexes))
	for i, n := range indexes {
		if n < 0 || n >= t.Size {
			return nil, fmt.Errorf("leaf %d of %d: %w", n, t.Size, ErrTile)
		}
		stored[i] = tlog.StoredHashIndex(0, n)
	}
	hashes, err := t.hashes().ReadHashes(stored)
	return hashes, asTile(err)
}

// RootAt is the root hash that the tree had at a smaller size.
func (t Tree) RootAt(size int64) (Hash, error) {
	if size == 0 {
		return tlog.TreeHash(0, nil)
	}
	h, err := tlog.TreeHash(size, t.hashes())
	return h, asTile(err)
}

// Inclusion proves that a leaf is in the tree.
func (t Tree) Inclusion(index int64) ([]Hash, error) {
	proof, err := tlog.ProveRecord(t.Size, index, t.hashes())
	return proof, asTile(err)
}

// Consistency proves that the tree begins with the one of a smaller size. The proof
// from the empty tree is empty.
func (t Tree) Consistency(from int64) ([]Hash, error) {
	if from == 0 {
		return nil, nil
	}
	proof, err := tlog.ProveTree(t.Size, from, t.hashes())
	return proof, asTile(err)
}

// asTile marks what the arithmetic says of tiles that do not lead to the root. Errors
// of a [Fetch] stay what they are.
func asTile(err error) error {
	var failed *fetchError
	switch {
	case err == nil, errors.Is(err, ErrTile):
		return err
	case errors.As(err, &failed):
		return failed.err
	}
	return fmt.Errorf("%w: %w", ErrTile, err)
}

// fetched gives the arithmetic its tiles.
type fetched struct{ fetch Fetch }

type fetchError struct{ err error }

func (e *fetchError) Error() string { return e.err.Error() }

// Height is for golang.org/x/mod/sumdb/tlog.
func (fetched) Height() int { return TileHeight }

// ReadTiles is for golang.org/x/mod/sumdb/tlog.
func (f fetched) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	paths := make([]TilePath, len(tiles))
	for i, t := range tiles {
		paths[i] = TilePath{TileID{t.L, t.N}, t.W}
	}
	data, err := f.fetch(paths)
	if err != nil {
		return nil, &fetchError{err}
	}
	for i, p := range paths {
		if len(data[i]) < p.Width*tlog.HashSize {
			return nil, fmt.Errorf("tile %s: %w", p, ErrTile)
		}
		data[i] = bytes.Clone(data[i][:p.Width*tlog.HashSize])
	}
	return data, nil
}

// SaveTiles is for golang.org/x/mod/sumdb/tlog.
func (fetched) SaveTiles([]tlog.Tile, [][]byte) {}
