package tlog_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	gotlog "golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"hostpanel/eventstore/tlog"
)

// synthetic is a leaf for each number.
func synthetic(n int64) tlog.Leaf {
	hash := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n)))
	l, _ := tlog.LeafOf(time.UnixMicro(1_700_000_000_000_000+n), hash[:])
	return l
}

// A grown tree, with all tiles that an observer may fetch.
type grown struct {
	edge  *tlog.Edge
	tiles map[tlog.TileID][]byte
}

func grow(t testing.TB, size int64) *grown {
	t.Helper()
	g := &grown{edge: &tlog.Edge{}, tiles: map[tlog.TileID][]byte{}}
	g.edge.OnFull(func(id tlog.TileID, data []byte) { g.tiles[id] = data })
	g.to(size)
	return g
}

func (g *grown) to(size int64) {
	for n := g.edge.Size(); n < size; n++ {
		g.edge.Add(synthetic(n).Hash())
	}
	for id, data := range g.edge.Tiles() {
		g.tiles[id] = data
	}
}

func (g *grown) tree(t testing.TB) tlog.Tree {
	t.Helper()
	root, err := g.edge.Root()
	if err != nil {
		t.Fatal(err)
	}
	return tlog.Tree{Size: g.edge.Size(), Root: root, Fetch: func(paths []tlog.TilePath) ([][]byte, error) {
		all := make([][]byte, len(paths))
		for i, p := range paths {
			all[i] = g.tiles[p.TileID]
		}
		return all, nil
	}}
}

// reference is the root that golang.org/x/mod computes from the leaves alone.
func reference(t testing.TB, size int64) tlog.Hash {
	t.Helper()
	var stored []tlog.Hash
	reader := gotlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		all := make([]tlog.Hash, len(indexes))
		for i, n := range indexes {
			all[i] = stored[n]
		}
		return all, nil
	})
	for n := range size {
		more, err := gotlog.StoredHashesForRecordHash(n, synthetic(n).Hash(), reader)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, more...)
	}
	root, err := gotlog.TreeHash(size, reader)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestTheRootIsThatOfTheReferenceAtEveryWidth(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 1, 2, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537} {
		tree := grow(t, size).tree(t)
		if want := reference(t, size); tree.Root != want {
			t.Errorf("%d leaves: %s, want %s", size, tree.Root, want)
		}
	}
}

func TestATreeGoesOnFromItsRightEdge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Int64Range(0, 1200).Draw(t, "first")
		more := rapid.Int64Range(0, 700).Draw(t, "more")
		g := &grown{edge: &tlog.Edge{}, tiles: map[tlog.TileID][]byte{}}
		g.to(first)
		resumed, err := tlog.Resume(first, g.edge.Tiles())
		if err != nil {
			t.Fatal(err)
		}
		for n := first; n < first+more; n++ {
			resumed.Add(synthetic(n).Hash())
		}
		g.to(first + more)
		a, errA := g.edge.Root()
		b, errB := resumed.Root()
		if a != b || errA != nil || errB != nil {
			t.Fatalf("%s and %s: %v %v", a, b, errA, errB)
		}
	})
}

func TestEveryLeafAndEveryEarlierTreeIsProven(t *testing.T) {
	t.Parallel()
	key, vkey, err := tlog.NewKey("log.example/audit")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := tlog.LogPolicy(vkey)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{1, 255, 256, 257, 65_537} {
		tree := grow(t, size).tree(t)
		signed, err := tlog.Checkpoint{Origin: "log.example/audit", Size: size, Root: tree.Root}.Sign(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int64{0, size / 2, size - 1} {
			hashes, err := tree.Inclusion(n)
			if err != nil {
				t.Fatal(err)
			}
			proof, err := tlog.ParseProof(tlog.Proof{Index: n, Hashes: hashes, Checkpoint: signed}.Text())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := proof.Check(synthetic(n), policy); err != nil {
				t.Errorf("leaf %d of %d: %v", n, size, err)
			}
			if _, err := proof.Check(synthetic(n+1), policy); !errors.Is(err, tlog.ErrProof) {
				t.Errorf("another leaf at %d of %d: %v", n, size, err)
			}
			proof.Index++
			if _, err := proof.Check(synthetic(n), policy); !errors.Is(err, tlog.ErrProof) {
				t.Errorf("another place at %d of %d: %v", n, size, err)
			}
		}
		for _, from := range []int64{0, 1, size / 2, size} {
			older := tlog.Checkpoint{Origin: "log.example/audit", Size: from, Root: grow(t, from).tree(t).Root}
			consistency(t, tree, older)
		}
	}
}

func consistency(t *testing.T, tree tlog.Tree, older tlog.Checkpoint) {
	t.Helper()
	newer := tlog.Checkpoint{Origin: older.Origin, Size: tree.Size, Root: tree.Root}
	proof, err := tree.Consistency(older.Size)
	if err != nil {
		t.Fatal(err)
	}
	if err := tlog.CheckConsistency(proof, older, newer); err != nil {
		t.Errorf("%d in %d: %v", older.Size, newer.Size, err)
	}
	if root, err := tree.RootAt(older.Size); err != nil || root != older.Root {
		t.Errorf("the root at %d: %s, %v", older.Size, root, err)
	}
	older.Root[0] ^= 1
	if err := tlog.CheckConsistency(proof, older, newer); older.Size > 0 && !errors.Is(err, tlog.ErrProof) {
		t.Errorf("another tree of %d in %d: %v", older.Size, newer.Size, err)
	}
}

func TestAChangedTileIsNoticed(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	g := grow(t, 70_000)
	tree := g.tree(t)
	for _, path := range []tlog.TilePath{
		{TileID: tlog.TileID{Level: 0, Number: 3}, Width: 256},
		{TileID: tlog.TileID{Level: 1, Number: 0}, Width: 256},
		{TileID: tlog.TileID{Level: 2, Number: 0}, Width: 1},
	} {
		at := random.IntN(path.Width * 32)
		g.tiles[path.TileID][at] ^= 1
		if _, err := tree.Leaves(3*256 + 5); !errors.Is(err, tlog.ErrTile) {
			t.Errorf("byte %d of tile %s was changed: %v", at, path, err)
		}
		g.tiles[path.TileID][at] ^= 1
	}
	if hashes, err := tree.Leaves(0, 3*256+5, 69_999); err != nil || hashes[1] != synthetic(3*256+5).Hash() {
		t.Errorf("%v, %v", hashes, err)
	}
	if _, err := tree.Leaves(70_000); !errors.Is(err, tlog.ErrTile) {
		t.Errorf("a leaf beyond the tree: %v", err)
	}
	g.tiles[tlog.TileID{Level: 0, Number: 273}] = nil
	if _, err := tree.Leaves(69_999); !errors.Is(err, tlog.ErrTile) {
		t.Errorf("a lost tile: %v", err)
	}
}

func TestAnEdgeWithoutItsTilesDoesNotGoOn(t *testing.T) {
	t.Parallel()
	if _, err := tlog.Resume(257, nil); !errors.Is(err, tlog.ErrTile) {
		t.Errorf("%v", err)
	}
}

func TestALeafCoversTheTimeAndTheHash(t *testing.T) {
	t.Parallel()
	at := time.Date(1969, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
	hash := sha256.Sum256([]byte("an event"))
	l, ok := tlog.LeafOf(at, hash[:])
	if !ok || !l.RecordedAt().Equal(at) || binary.BigEndian.Uint64(l[:8]) != 1<<64-1 || [32]byte(l[8:]) != hash {
		t.Errorf("%x, %t", l, ok)
	}
	for _, wrong := range [][]byte{nil, hash[:31], append(hash[:], 0)} {
		if _, ok := tlog.LeafOf(at, wrong); ok {
			t.Errorf("%x is taken for a hash", wrong)
		}
	}
	if bundle := l.AppendEntry(nil); len(bundle) != 42 || bundle[0] != 0 || bundle[1] != 40 {
		t.Errorf("%x", bundle)
	}
}

func TestTilesHaveOneAddress(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]tlog.TilePath{
		"0/000":               {TileID: tlog.TileID{Level: 0, Number: 0}, Width: 256},
		"0/x001/x234/067":     {TileID: tlog.TileID{Level: 0, Number: 1234067}, Width: 256},
		"63/000.p/1":          {TileID: tlog.TileID{Level: 63, Number: 0}, Width: 1},
		"entries/000.p/255":   {TileID: tlog.TileID{Level: tlog.EntriesLevel, Number: 0}, Width: 255},
		"entries/x001/000":    {TileID: tlog.TileID{Level: tlog.EntriesLevel, Number: 1000}, Width: 256},
		"1/x999/999.p/17":     {TileID: tlog.TileID{Level: 1, Number: 999999}, Width: 17},
		"2/x123/x456/789.p/2": {TileID: tlog.TileID{Level: 2, Number: 123456789}, Width: 2},
	} {
		got, err := tlog.ParseTilePath(path)
		if err != nil || got != want || got.String() != path {
			t.Errorf("%s is %+v (%s), %v", path, got, got, err)
		}
	}
	for _, path := range []string{
		"", "0", "0/", "0/1", "0/0001", "0/x000/001", "00/000", "-1/000", "64/000", "data/000", "0/000.p/0",
		"0/000.p/256", "0/000.p/01", "0/000.p", "0/000/000", "entries", "entries/x000",
	} {
		if got, err := tlog.ParseTilePath(path); !errors.Is(err, tlog.ErrPath) {
			t.Errorf("%q is %+v", path, got)
		}
	}
}

func TestATreeHasTheTilesThatItsSizeNeeds(t *testing.T) {
	t.Parallel()
	widths := map[int]int{}
	partial := map[int]int{}
	for _, p := range tlog.TilesOf(70_000) {
		if p.Width == 256 {
			widths[p.Level]++
		} else {
			partial[p.Level] = p.Width
		}
	}
	if widths[0] != 273 || partial[0] != 112 || widths[1] != 1 || partial[1] != 17 || widths[2] != 0 || partial[2] != 1 {
		t.Errorf("full %v, partial %v", widths, partial)
	}
	for _, id := range []tlog.TileID{{Level: 0, Number: 274}, {Level: 0, Number: 1 << 62}, {Level: 9, Number: 0}, {Level: 63, Number: 0}} {
		if w := id.WidthAt(70_000); w != 0 {
			t.Errorf("%+v has %d hashes", id, w)
		}
	}
}
