package backup

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/sealing"
	"hostpanel/eventstore/tlog/tree"
)

// Saving says what is saved, and where.
type Saving struct {
	Path     string // a folder, or a file that ends in .zip; it must not exist
	Schema   Schema
	Keys     *sealing.Keyring
	Program  Program
	Erasures []byte                // the signed list; nil: there is none
	Progress func(done, all int64) // hears how many events of how many are written; may be nil
}

// Save writes a backup. The owner's transaction reads one moment of the database and
// takes no lock that another process waits for. On any error nothing is left.
func Save(ctx context.Context, owner *pgxpool.Pool, s Saving) (m Manifest, err error) {
	to, err := newTarget(s.Path)
	if err != nil {
		return m, fmt.Errorf("begin the backup: %w", err)
	}
	if s.Progress == nil {
		s.Progress = func(int64, int64) {}
	}
	w := &writer{Saving: s, to: to}
	err = pgx.BeginTxFunc(ctx, owner, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		return w.save(ctx, tx)
	})
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		to.abort()
		return m, fmt.Errorf("make the backup: %w", err)
	}
	return w.Manifest, nil
}

// A writer writes the files of a backup.
type writer struct {
	Saving
	Manifest
	to target
}

func (w *writer) save(ctx context.Context, tx pgx.Tx) (err error) {
	w.Format, w.Manifest.Program, w.MadeAt = Format, w.Saving.Program, clock.Now().UTC()
	if err := w.describe(ctx, tx); err != nil {
		return err
	}
	names, err := w.Schema.tables()
	if err != nil {
		return err
	}
	tables, err := present(ctx, tx, names)
	if err != nil {
		return err
	}
	var schemas []string
	for _, t := range tables {
		schemas = append(schemas, t.Schema)
		if err := w.table(ctx, tx, t); err != nil {
			return fmt.Errorf("%s: %w", t.qualified(), eventstore.Unavailable(err))
		}
	}
	w.Sequences, err = sequences(ctx, tx, slices.Compact(slices.Sorted(slices.Values(schemas))))
	return err
}

// describe reads what the manifest says of the log and the keys.
func (w *writer) describe(ctx context.Context, tx pgx.Tx) (err error) {
	if w.Migrations, err = eventstore.AllMigrated(ctx, tx); err != nil {
		return err
	}
	var last []byte
	err = tx.QueryRow(ctx, `select position, hash from events order by position desc limit 1`).Scan(&w.Head.Position, &last)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("read the head of the log: %w", eventstore.Unavailable(err))
	}
	w.Head.Hash = hex.EncodeToString(last)
	o, err := tree.In(tx).Current(ctx)
	switch {
	case errors.Is(err, tree.ErrNone):
	case err != nil:
		return err
	default:
		w.Log = &Log{Origin: o.Name, VKey: o.VKey, Size: o.Size, Checkpoint: o.Checkpoint, Published: o.Published.Text}
	}
	w.Manifest.Keys, err = eventstore.NeededKeys(ctx, tx, w.Saving.Keys)
	return err
}

// table writes the rows of one table.
func (w *writer) table(ctx context.Context, tx pgx.Tx, t table) error {
	f := File{Schema: t.Schema, Table: t.Name, Columns: t.Columns}
	count := &lines{tell: func(int64) {}}
	if t.qualified() == "public.events" {
		count.tell = func(n int64) { w.Progress(n, w.Head.Position) }
	}
	blob, err := w.blob(t.qualified()+".copy.gz", func(out io.Writer) error {
		tag, err := tx.Conn().PgConn().CopyTo(ctx, io.MultiWriter(out, count), `copy `+t.sql()+` (`+columns(t.Columns)+`) to stdout`)
		f.Rows = tag.RowsAffected()
		return err
	})
	if f.Blob = blob; err == nil {
		w.Files = append(w.Files, f)
	}
	return err
}

// blob writes one compressed file.
func (w *writer) blob(name string, fill func(io.Writer) error) (b Blob, err error) {
	file, err := w.to.create(name)
	if err != nil {
		return b, err
	}
	sum := &summed{hash: sha256.New()}
	packed := gzip.NewWriter(io.MultiWriter(file, sum))
	err = fill(packed)
	err = errors.Join(err, packed.Close(), file.Close())
	return Blob{Name: name, Bytes: sum.bytes, Sum: hex.EncodeToString(sum.hash.Sum(nil))}, err
}

// finish writes the rest, and the manifest last.
func (w *writer) finish() error {
	if w.Saving.Erasures != nil {
		b, err := w.blob("erasures.gz", func(out io.Writer) error { _, err := out.Write(w.Saving.Erasures); return err })
		if err != nil {
			return err
		}
		w.Manifest.Erasures = &b
	}
	text, err := w.encode()
	if err != nil {
		return err
	}
	file, err := w.to.create(manifestName)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return w.to.finish()
}

// summed counts and sums what is written.
type summed struct {
	hash  hash.Hash
	bytes int64
}

func (s *summed) Write(p []byte) (int, error) {
	s.bytes += int64(len(p))
	return s.hash.Write(p)
}

// lines counts lines, and tells of them now and then.
type lines struct {
	n, told int64
	tell    func(int64)
}

func (l *lines) Write(p []byte) (int, error) {
	if l.n += int64(bytes.Count(p, []byte{'\n'})); l.n-l.told >= tellEvery {
		l.told = l.n
		l.tell(l.n)
	}
	return len(p), nil
}

// tellEvery is the number of rows after which progress is told.
const tellEvery = 1000
