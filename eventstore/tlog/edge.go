package tlog

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// An Edge is the right edge of a tree: its last tile of each level. It is all that
// is needed to extend the tree. The zero value is the empty tree.
type Edge struct {
	size  int64
	tiles [][]byte // by level: the hashes of its last tile, less than 256
	full  func(TileID, []byte)
}

// OnFull calls do with each tile that becomes full. The bytes are its own.
func (e *Edge) OnFull(do func(TileID, []byte)) { e.full = do }

// Size is the number of leaves.
func (e *Edge) Size() int64 { return e.size }

// Resume is the edge of a tree of this size. The tiles are those that [EdgeOf] lists.
func Resume(size int64, tiles map[TileID][]byte) (*Edge, error) {
	e := &Edge{size: size}
	for _, p := range EdgeOf(size) {
		data := tiles[p.TileID]
		if len(data) < p.Width*tlog.HashSize {
			return nil, fmt.Errorf("tile %s: %w", p, ErrTile)
		}
		for len(e.tiles) <= p.Level {
			e.tiles = append(e.tiles, nil)
		}
		e.tiles[p.Level] = append([]byte{}, data[:p.Width*tlog.HashSize]...)
	}
	return e, nil
}

// EdgeOf lists the partial tiles of a tree of this size.
func EdgeOf(size int64) (all []TilePath) {
	for level := 0; size>>(TileHeight*level) > 0; level++ {
		width := size >> (TileHeight * level)
		if partial := int(width % TileWidth); partial > 0 {
			all = append(all, TilePath{TileID{level, width / TileWidth}, partial})
		}
	}
	return all
}

// Add adds a leaf.
func (e *Edge) Add(leaf Hash) {
	e.size++
	e.push(0, leaf)
}

func (e *Edge) push(level int, h Hash) {
	if level == len(e.tiles) {
		e.tiles = append(e.tiles, nil)
	}
	if e.tiles[level] == nil {
		e.tiles[level] = make([]byte, 0, TileWidth*tlog.HashSize)
	}
	e.tiles[level] = append(e.tiles[level], h[:]...)
	if len(e.tiles[level]) < TileWidth*tlog.HashSize {
		return
	}
	data := e.tiles[level]
	e.tiles[level] = nil
	if e.full != nil {
		e.full(TileID{level, e.size>>(TileHeight*(level+1)) - 1}, data)
	}
	e.push(level+1, fold(data))
}

// fold is the hash of a full tile.
func fold(data []byte) Hash {
	var hashes [TileWidth]Hash
	for i := range hashes {
		hashes[i] = Hash(data[i*tlog.HashSize:])
	}
	for width := TileWidth; width > 1; width /= 2 {
		for i := range width / 2 {
			hashes[i] = tlog.NodeHash(hashes[2*i], hashes[2*i+1])
		}
	}
	return hashes[0]
}

// Tiles are the partial tiles.
func (e *Edge) Tiles() map[TileID][]byte {
	all := map[TileID][]byte{}
	for _, p := range EdgeOf(e.size) {
		all[p.TileID] = append([]byte{}, e.tiles[p.Level]...)
	}
	return all
}

// Root is the root hash of the tree.
func (e *Edge) Root() (Hash, error) { return tlog.TreeHash(e.size, reader{e.Tiles()}) }
