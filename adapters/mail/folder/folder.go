// Package folder puts each message into a directory, as a file that mail
// programs open (.eml). It is what the panel does with its mail as long as no
// mail server is set (docs/adapters.md, "Mail").
package folder

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	netmail "net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hostpanel/adapters/mail"
	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/eventstore/clock"
)

// A Folder keeps messages, one file each.
type Folder struct{ dir string }

// New returns a folder in dir, which is made when the first message comes.
func New(dir string) *Folder { return &Folder{dir} }

// Send writes the message to `<UTC time>-<message id>.eml`. A file appears only
// when it is complete, and two sends of one message are two files.
func (f *Folder) Send(_ context.Context, m notice.Mail) error {
	now := clock.Now().UTC()
	letter, err := mail.Compose(m, now)
	if err != nil {
		return err
	}
	if err := f.put(fileName(now, m.MessageID), letter.Content); err != nil {
		return domain.Fail(domain.Transient, "disk", err)
	}
	return nil
}

// Check tells whether messages can be kept. A folder that is not there is made
// when the first message comes.
func (f *Folder) Check(context.Context) error {
	if _, err := os.Stat(f.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	half, err := write(f.dir, nil)
	_ = os.Remove(half)
	return err
}

// Address is the folder.
func (f *Folder) Address() string { return f.dir }

// Forget deletes the messages to these addresses.
func (f *Folder) Forget(ctx context.Context, addresses []string) error {
	files, err := filepath.Glob(filepath.Join(f.dir, "*.eml"))
	if err != nil {
		return fmt.Errorf("list the outbox: %w", err)
	}
	for _, path := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		to, err := recipient(path)
		if err == nil && slices.ContainsFunc(addresses, func(address string) bool { return strings.EqualFold(address, to) }) {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete messages from the outbox: %w", err)
		}
	}
	return nil
}

// recipient is the address that a message goes to; "": it cannot be read.
func recipient(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	message, err := netmail.ReadMessage(file)
	if err != nil {
		return "", nil // not one of ours
	}
	to, err := netmail.ParseAddress(message.Header.Get("To"))
	if err != nil {
		return "", nil
	}
	return to.Address, nil
}

// put gives the file its name only once it is whole, and is done only when a
// power cut would not take it away again.
func (f *Folder) put(name string, content []byte) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("make the outbox: %w", err)
	}
	half, err := write(f.dir, content)
	if err == nil {
		err = os.Rename(half, filepath.Join(f.dir, name))
	}
	if err != nil {
		_ = os.Remove(half)
		return fmt.Errorf("write to the outbox: %w", err)
	}
	return f.sync()
}

// sync makes the new name durable.
func (f *Folder) sync() error {
	dir, err := os.Open(f.dir)
	if err != nil {
		return fmt.Errorf("open the outbox: %w", err)
	}
	defer func() { _ = dir.Close() }()
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("keep a message in the outbox: %w", err)
	}
	return nil
}

// write makes an invisible file, which os.CreateTemp gives mode 0600.
func write(dir string, content []byte) (string, error) {
	file, err := os.CreateTemp(dir, ".half-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Write(content); err != nil {
		return file.Name(), err
	}
	if err := file.Sync(); err != nil {
		return file.Name(), err
	}
	return file.Name(), file.Close()
}

// fileName sorts by time. Its tail keeps two sends in one microsecond apart.
func fileName(at time.Time, messageID string) string {
	return fmt.Sprintf("%s-%s-%s.eml", at.Format("20060102T150405.000000Z"), plain(messageID), rand.Text()[:6])
}

// plain leaves of a message id what any file system takes, 100 bytes at most.
func plain(id string) string {
	id = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '@':
			return r
		case r == '<' || r == '>':
			return -1
		}
		return '_'
	}, id)
	return id[:min(len(id), 100)]
}
