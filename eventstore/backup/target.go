package backup

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hostpanel/eventstore/wholefile"
)

// A target is where a backup is written: a folder, or a file that ends in .zip. It has
// another name until it is whole.
type target interface {
	create(name string) (io.WriteCloser, error)
	finish() error // makes it whole
	abort()        // takes away what was written; nothing after finish
}

// newTarget begins a backup. What exists already is not replaced.
func newTarget(path string) (target, error) {
	path = filepath.Clean(path)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("%s exists already: %w", path, fs.ErrExist)
		}
		return nil, err
	}
	draft := "." + filepath.Base(path) + ".partial-*"
	if !isZip(path) {
		dir, err := os.MkdirTemp(filepath.Dir(path), draft)
		return &folder{path: path, draft: dir}, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), draft)
	if err != nil {
		return nil, err
	}
	return &archive{path: path, file: f, zip: zip.NewWriter(f)}, nil
}

func isZip(path string) bool { return strings.EqualFold(filepath.Ext(path), ".zip") }

// A folder is a backup with a file for each table.
type folder struct{ path, draft string }

func (f *folder) create(name string) (io.WriteCloser, error) {
	file, err := os.OpenFile(filepath.Join(f.draft, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return syncedFile{file}, err
}

func (f *folder) finish() error {
	if err := wholefile.SyncFolder(f.draft); err != nil {
		return err
	}
	if err := os.Rename(f.draft, f.path); err != nil {
		return err
	}
	return wholefile.SyncFolder(filepath.Dir(f.path))
}

func (f *folder) abort() { _ = os.RemoveAll(f.draft) }

// A syncedFile is a file that is on the disk when it is closed.
type syncedFile struct{ file *os.File }

func (s syncedFile) Write(part []byte) (int, error) { return s.file.Write(part) }

func (s syncedFile) Close() error { return errors.Join(s.file.Sync(), s.file.Close()) }

// An archive is a backup in one file. Its parts are compressed already.
type archive struct {
	path string
	file *os.File
	zip  *zip.Writer
}

func (a *archive) create(name string) (io.WriteCloser, error) {
	h := &zip.FileHeader{Name: name, Method: zip.Store}
	h.SetMode(0o600)
	w, err := a.zip.CreateHeader(h)
	return archivePart{w}, err
}

// An archivePart ends with the next part of its archive.
type archivePart struct{ io.Writer }

func (archivePart) Close() error { return nil }

// finish gives the archive its name, which must still be free.
func (a *archive) finish() error {
	if err := errors.Join(a.zip.Close(), a.file.Sync(), a.file.Close()); err != nil {
		return err
	}
	if err := os.Link(a.file.Name(), a.path); err != nil {
		return err
	}
	return errors.Join(os.Remove(a.file.Name()), wholefile.SyncFolder(filepath.Dir(a.path)))
}

func (a *archive) abort() {
	_ = a.file.Close()
	_ = os.Remove(a.file.Name())
}
