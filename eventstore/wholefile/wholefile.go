// Package wholefile writes private files whole or not at all, also if the machine fails
// meanwhile. They have mode 0600.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write makes or replaces a file. It is on the disk when Write returns.
func Write(path string, content []byte) error { return put(path, content, os.Rename) }

// Create is Write for a file that must not exist: [io/fs.ErrExist].
func Create(path string, content []byte) error { return put(path, content, os.Link) }

// put writes a draft beside the file, and gives it the name at last.
func put(path string, content []byte, name func(draft, path string) error) error {
	draft, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	_, err = draft.Write(content)
	if err := errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := name(draft.Name(), path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// SyncFolder brings the names of the files in a folder to the disk.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
