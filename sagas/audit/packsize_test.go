package audit_test

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"hostpanel/eventstore/evidence"
	"hostpanel/eventstore/tlog"
	"hostpanel/sagas/sagastest"
)

// amongMany puts the events of a pack at places by chance in a tree of so many leaves, and
// proves them by a checkpoint that two witnesses have cosigned.
func amongMany(w *sagastest.World, p *evidence.Pack, leaves int64) {
	w.T.Helper()
	seed := rand.Uint64()
	w.T.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test
	at := map[int64][]byte{}
	for len(at) < len(p.Events) {
		at[random.Int64N(leaves)] = nil
	}
	for i, index := range slices.Sorted(maps.Keys(at)) {
		at[index], p.Events[i].Position = p.Events[i].Bytes, index+1
	}
	tree := grown(leaves, func(n int64) tlog.Leaf {
		bytes, own := at[n]
		if !own {
			bytes = binary.BigEndian.AppendUint64(nil, uint64(n)) //nolint:gosec // not below zero
		}
		hash := sha256.Sum256(bytes)
		leaf, _ := tlog.LeafOf(time.UnixMicro(1_790_000_000_000_000+n), hash[:])
		if own {
			at[n] = leaf[:]
		}
		return leaf
	})
	var checkpoint string
	checkpoint, p.Policy = cosigned(w, tlog.Checkpoint{Origin: "panel.example/audit/log", Size: leaves, Root: tree.Root})
	for i := range p.Events {
		index := p.Events[i].Position - 1
		hashes, err := tree.Inclusion(index)
		w.Must(err)
		p.Events[i].Proof = tlog.Proof{Index: index, Hashes: hashes, Checkpoint: checkpoint, Extra: at[index]}.Text()
	}
}

// grown is a tree of so many leaves.
func grown(leaves int64, leaf func(n int64) tlog.Leaf) tlog.Tree {
	edge, tiles := &tlog.Edge{}, map[tlog.TileID][]byte{}
	edge.OnFull(func(id tlog.TileID, data []byte) { tiles[id] = data })
	for n := range leaves {
		edge.Add(leaf(n).Hash())
	}
	maps.Copy(tiles, edge.Tiles())
	root, _ := edge.Root()
	return tlog.Tree{Size: leaves, Root: root, Fetch: func(paths []tlog.TilePath) ([][]byte, error) {
		all := make([][]byte, len(paths))
		for i, path := range paths {
			all[i] = tiles[path.TileID]
		}
		return all, nil
	}}
}

// cosigned is a checkpoint with the signatures of a log and two witnesses, and the policy
// that asks for all of them.
func cosigned(w *sagastest.World, c tlog.Checkpoint) (checkpoint, policy string) {
	w.T.Helper()
	key, vkey, err := tlog.NewKey(c.Origin)
	w.Must(err)
	checkpoint, err = c.Sign(key)
	w.Must(err)
	policy = "log " + vkey + "\n"
	for _, name := range []string{"one", "two"} {
		witness, err := tlog.NewWitness(name+".example/w1", tlog.NewWitnessKey(), time.Now)
		w.Must(err)
		line, err := witness.Cosign(c, c.Text())
		w.Must(err)
		checkpoint += line
		policy += "witness " + name + " " + witness.VKey() + " https://" + name + ".example\n"
	}
	return checkpoint, policy + "group both all one two\nquorum both\n"
}
