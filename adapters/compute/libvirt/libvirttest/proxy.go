package libvirttest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A Proxy stands between an adapter and libvirt, and can lose an answer: the call is carried
// out, and the connection is cut.
type Proxy struct {
	Socket string // where the adapter is to connect

	to string

	mu     sync.Mutex
	left   int    // calls until the one whose answer is lost; 0: none
	lose   uint32 // procedure whose next answer is lost; 0: none
	done   bool   // an answer was lost
	silent bool   // no answer is passed on
	held   uint32 // procedure whose answers wait; 0: none
	free   chan struct{}
	always func(procedure uint32) bool // the answers of all that fit are lost
}

// NewProxy starts a proxy before a socket of libvirt. It ends with the test.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	folder, err := os.MkdirTemp("", "lvp")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Socket: filepath.Join(folder, "sock"), to: to}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", p.Socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = listener.Close()
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(t.Context(), c)
		}
	}()
	return p
}

// Cut loses the answer of the nth call from now on. The returned function ends that, and
// reports whether such a call came.
func (p *Proxy) Cut(n int) (cut func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.lose, p.done = n, 0, false
	return p.end
}

// CutAfter loses the answer of the next call of a procedure.
func (p *Proxy) CutAfter(procedure uint32) (cut func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.lose, p.done = 0, procedure, false
	return p.end
}

// LoseAnswersOf loses the answers of all procedures that fit; nil: of none.
func (p *Proxy) LoseAnswersOf(fits func(procedure uint32) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.always = fits
}

// end stops losing answers, and reports whether one was lost.
func (p *Proxy) end() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.lose = 0, 0
	return p.done
}

// Hold lets the answers of a procedure wait until they are released.
func (p *Proxy) Hold(procedure uint32) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	free := make(chan struct{})
	p.held, p.free = procedure, free
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held = 0
		close(free)
	}
}

func (p *Proxy) wait(procedure uint32) {
	p.mu.Lock()
	held, free := p.held == procedure, p.free
	p.mu.Unlock()
	if held {
		<-free
	}
}

// Silence passes no answers on, or does again.
func (p *Proxy) Silence(is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = is
}

func (p *Proxy) isSilent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.silent
}

func (p *Proxy) loses(procedure uint32) bool {
	p.mu.Lock()
	always := p.always
	p.mu.Unlock()
	if always != nil && always(procedure) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if procedure == p.lose {
		p.lose, p.done = 0, true
		return true
	}
	if p.left == 0 {
		return false
	}
	p.left--
	p.done = p.done || p.left == 0
	return p.left == 0
}

func (p *Proxy) serve(ctx context.Context, from net.Conn) {
	to, err := new(net.Dialer).DialContext(ctx, "unix", p.to)
	if err != nil {
		_ = from.Close()
		return
	}
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	p.answers(from, to)
	_, _ = from.Close(), to.Close()
}

// Of a message of libvirt's protocol: procedures of a connection's beginning, and the type
// of an answer.
const (
	connectOpen = 1
	authList    = 66
	reply       = 1
)

// Procedures that fill a volume, and that make one as a copy.
const (
	VolumeUpload = 208
	VolumeCopy   = 125
)

// answers passes messages on until one is lost.
func (p *Proxy) answers(from io.Writer, to io.Reader) {
	for {
		head := make([]byte, 28)
		if _, err := io.ReadFull(to, head); err != nil {
			return
		}
		length, procedure, kind := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[12:]), binary.BigEndian.Uint32(head[16:])
		body := make([]byte, max(length, 28)-28)
		if _, err := io.ReadFull(to, body); err != nil {
			return
		}
		if kind == reply && procedure != connectOpen && procedure != authList && p.loses(procedure) {
			return
		}
		p.wait(procedure)
		if p.isSilent() {
			continue
		}
		if _, err := from.Write(append(head, body...)); err != nil {
			return
		}
	}
}
