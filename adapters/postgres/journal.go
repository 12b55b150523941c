//go:build unix

package postgres

import (
	"io"
	"os"
	"strings"
	"sync"
)

const (
	logLimit  = 8 << 20 // bytes of a log that the next start begins anew
	saidLimit = 4 << 10 // bytes of messages that explain a failed start
)

// A journal takes the messages of one server, and tells the last ones when it
// did not start.
type journal struct {
	to    io.Writer
	said  func() string
	close func()
}

func (c *Cluster) journal() (journal, error) {
	if c.options.Log != nil {
		t := &record{to: c.options.Log}
		return journal{t, t.said, func() {}}, nil
	}
	return openJournal(c.home.log())
}

// openJournal gives the server the file itself, which a server that outlives us
// keeps. The log before the last one is dropped.
func openJournal(path string) (journal, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > logLimit {
		_ = os.Rename(path, path+".old")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return journal{}, err
	}
	start, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		_ = f.Close()
		return journal{}, err
	}
	said := func() string {
		text, _ := io.ReadAll(io.NewSectionReader(f, start, saidLimit))
		return strings.TrimSpace(string(text))
	}
	return journal{f, said, func() { _ = f.Close() }}, nil
}

// A record passes messages on and remembers the first of them.
type record struct {
	to   io.Writer
	mu   sync.Mutex
	text []byte
}

func (t *record) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[:min(len(p), saidLimit-len(t.text))]...)
	return t.to.Write(p)
}

func (t *record) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
