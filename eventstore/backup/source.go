package backup

import (
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
)

// A Backup is one that was written, and can be read.
type Backup struct {
	Manifest
	files fs.FS
	close func() error
}

// Open reads the manifest of a backup. It refuses one that is not whole, or that a newer
// program has written. Close it in any case but an error.
func Open(path string) (*Backup, error) {
	b, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("open the backup: %w", err)
	}
	f, err := b.files.Open(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s has no %s: it is no whole backup", path, manifestName)
	}
	if err == nil {
		b.Manifest, err = decodeManifest(f)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func open(path string) (*Backup, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		root, err := os.OpenRoot(path)
		if err != nil {
			return nil, err
		}
		return &Backup{files: root.FS(), close: root.Close}, nil
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, damaged(path, err)
	}
	return &Backup{files: z, close: z.Close}, nil
}

// Close lets go of the files.
func (b *Backup) Close() error { return b.close() }

// Check reads all files, and names the first one that is not as it was written. It also
// refuses secret keys that do not fit.
func (b *Backup) Check(ctx context.Context, keys *sealing.Keyring, progress func(done, all int64)) error {
	if err := eventstore.Fit(keys, b.Keys); err != nil {
		return err
	}
	blobs := make([]Blob, 0, len(b.Files)+1)
	for _, f := range b.Files {
		blobs = append(blobs, f.Blob)
	}
	if b.Erasures != nil {
		blobs = append(blobs, *b.Erasures)
	}
	done := int64(0)
	for _, blob := range blobs {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := b.read(blob, func(r io.Reader) error { _, err := io.Copy(io.Discard, r); return err })
		if err != nil {
			return err
		}
		done += blob.Bytes
		progress(done, b.Bytes())
	}
	return nil
}

// ErasedList is the signed list of erasures that the backup has; nil: it has none.
func (b *Backup) ErasedList() (list []byte, err error) {
	if b.Erasures == nil {
		return nil, nil
	}
	err = b.read(*b.Erasures, func(r io.Reader) (err error) { list, err = io.ReadAll(r); return err })
	return list, err
}

// read passes on what a file holds, and compares all its bytes with their sum.
func (b *Backup) read(blob Blob, take func(io.Reader) error) error {
	f, err := b.files.Open(blob.Name)
	if err != nil {
		return damaged(blob.Name, err)
	}
	defer func() { _ = f.Close() }()
	sum := &summed{hash: sha256.New()}
	stored := io.TeeReader(f, sum)
	packed, err := gzip.NewReader(stored)
	if err != nil {
		return damaged(blob.Name, err)
	}
	content := &faulty{r: packed}
	taken := take(content)
	if content.err != nil {
		return damaged(blob.Name, content.err)
	}
	if taken != nil {
		return fmt.Errorf("%s: %w", blob.Name, taken)
	}
	if _, err := io.Copy(io.Discard, stored); err != nil {
		return damaged(blob.Name, err)
	}
	if sum.bytes != blob.Bytes || hex.EncodeToString(sum.hash.Sum(nil)) != blob.Sum {
		return damaged(blob.Name, nil)
	}
	return nil
}

// faulty remembers why reading failed. What comes of it elsewhere is less exact.
type faulty struct {
	r   io.Reader
	err error
}

func (f *faulty) Read(p []byte) (n int, err error) {
	n, err = f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}
