package tlog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	// TileHeight is the number of levels of the tree that a tile spans.
	TileHeight = 8
	// TileWidth is the number of hashes in a full tile.
	TileWidth = 1 << TileHeight
	// EntriesLevel is the level of a [TileID] that names a bundle of entries.
	EntriesLevel = -1

	highestLevel = 63
)

// A TileID names a tile: its level and its number there. At level 0 are the hashes of
// leaves. Each hash of a higher level is that of a full tile below it.
type TileID struct {
	Level  int
	Number int64
}

// A TilePath names a tile with its width, as the addresses of a log do.
type TilePath struct {
	TileID
	Width int // 1 to 256
}

// ErrPath means that an address names no tile.
var ErrPath = errors.New("not the address of a tile")

// ParseTilePath reads what follows "tile/" in an address: "0/x001/234" or
// "entries/000.p/17".
func ParseTilePath(path string) (TilePath, error) {
	kind, rest, _ := strings.Cut(path, "/")
	if kind == "entries" {
		kind = "data"
	} else if level, err := strconv.Atoi(kind); err != nil || level < 0 || level > highestLevel {
		return TilePath{}, ErrPath
	}
	t, err := tlog.ParseTilePath(fmt.Sprintf("tile/%d/%s/%s", TileHeight, kind, rest))
	if err != nil {
		return TilePath{}, ErrPath
	}
	return TilePath{TileID{t.L, t.N}, t.W}, nil
}

// String is the address of the tile, without "tile/".
func (p TilePath) String() string {
	path := tlog.Tile{H: TileHeight, L: p.Level, N: p.Number, W: p.Width}.Path()
	path = strings.TrimPrefix(path, fmt.Sprintf("tile/%d/", TileHeight))
	if rest, ok := strings.CutPrefix(path, "data/"); ok {
		return "entries/" + rest
	}
	return path
}

// WidthAt is the width of the tile in a tree of this size; 0: the tree does not have it.
func (t TileID) WidthAt(size int64) int {
	level := max(t.Level, 0)
	if level >= 64/TileHeight || t.Number > size>>(TileHeight*level) {
		return 0
	}
	return int(max(0, min(size>>(TileHeight*level)-t.Number*TileWidth, TileWidth)))
}

// TilesOf lists the tiles of a tree by level, each with its width.
func TilesOf(size int64) (all []TilePath) {
	for level := 0; size>>(TileHeight*level) > 0; level++ {
		for n := int64(0); ; n++ {
			id := TileID{level, n}
			width := id.WidthAt(size)
			if width == 0 {
				break
			}
			all = append(all, TilePath{id, width})
		}
	}
	return all
}
