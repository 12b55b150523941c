package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"hostpanel/eventstore/tlog"
)

// Files writes the tree of the shown checkpoint into a folder, in the layout in which it
// is served: tiles, bundles of entries, and at last the checkpoint. Full tiles that are
// there already are left as they are, so that a second call adds what is new. The tree
// that was written is returned with its size.
func (t *Tree) Files(ctx context.Context, dir string, progress func(done, all int64)) (o Origin, size int64, err error) {
	if o, err = t.Current(ctx); err != nil {
		return o, 0, err
	}
	text, _ := o.Shown()
	c, err := tlog.OpenCheckpoint(text, o.VKey)
	if text == "" {
		return o, 0, ErrNone
	}
	if err != nil {
		return o, 0, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	tiles := tlog.TilesOf(c.Size)
	for i, p := range tiles {
		if err := t.files(ctx, o, dir, p); err != nil {
			return o, 0, err
		}
		progress(int64(i+1), int64(len(tiles)))
	}
	return o, c.Size, replaceFile(filepath.Join(dir, "checkpoint"), []byte(text))
}

// files writes a tile, and at the lowest level the entries below it.
func (t *Tree) files(ctx context.Context, o Origin, dir string, p tlog.TilePath) error {
	paths := []tlog.TilePath{p}
	if p.Level == 0 {
		paths = append(paths, tlog.TilePath{TileID: tlog.TileID{Level: tlog.EntriesLevel, Number: p.Number}, Width: p.Width})
	}
	for _, p := range paths {
		name := filepath.Join(dir, "tile", filepath.FromSlash(p.String()))
		if _, err := os.Stat(name); err == nil && p.Width == tlog.TileWidth {
			continue
		}
		data, err := t.tileOf(ctx, o, p)
		if err == nil {
			err = replaceFile(name, data)
		}
		if err != nil {
			return fmt.Errorf("write tile %s: %w", p, err)
		}
	}
	return nil
}

// replaceFile writes a file whole or not at all.
func replaceFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	part := name + ".part"
	if err := os.WriteFile(part, data, 0o600); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, name)
}
