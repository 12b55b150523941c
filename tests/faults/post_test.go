//go:build system

package faults_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
)

// The post carries webhooks to the panel: most of them. Some it loses, keeps
// for a while, copies, tampers with, or brings back as not taken.
type post struct {
	t       *testing.T
	server  *httptest.Server
	receive func(ctx context.Context, provider string, raw []byte, header map[string][]string) error

	mu     sync.Mutex
	chance *rand.Rand
	calm   atomic.Bool // all are carried, once

	carried, lost, copied, kept, unanswered, tampered atomic.Int64
}

func newPost(t *testing.T, seed int64) *post {
	p := &post{t: t, chance: rand.New(rand.NewPCG(uint64(seed), 3))}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /storefront/webhooks/{provider}/", p.take)
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	return p
}

func (p *post) to(provider string) string {
	return p.server.URL + "/storefront/webhooks/" + provider + "/"
}

func (p *post) draw(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calm.Load() {
		return n // nothing that happens by chance
	}
	return p.chance.IntN(n)
}

func (p *post) take(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	provider, chance := r.PathValue("provider"), p.draw(100)
	if chance < 15 {
		p.lost.Add(1)
		return // and says that it was taken
	}
	switch {
	case chance < 25:
		p.unanswered.Add(1)
		defer panic(http.ErrAbortHandler) // it may have been taken
	case chance < 40:
		p.copied.Add(1)
		go func() { _ = p.receive(context.WithoutCancel(r.Context()), provider, raw, r.Header) }()
	case chance < 55:
		p.kept.Add(1)
		time.Sleep(time.Duration(p.draw(300)) * time.Millisecond)
	case chance < 65:
		p.tampered.Add(1)
		p.refuses(provider, tampered(raw), r.Header)
	}
	if err := p.receive(r.Context(), provider, raw, r.Header); err != nil {
		w.WriteHeader(map[bool]int{true: http.StatusBadRequest, false: http.StatusServiceUnavailable}[domain.CodeOf(err) == domain.Invalid])
		return
	}
	p.carried.Add(1)
}

// deliver brings a webhook without any mishap.
func (p *post) deliver(provider string, raw []byte, header http.Header) {
	if err := p.receive(p.t.Context(), provider, raw, header); err != nil {
		p.t.Errorf("a webhook of %s was not taken: %v", provider, err)
	}
}

// refuses makes sure that a webhook is not believed.
func (p *post) refuses(provider string, raw []byte, header http.Header) {
	if err := p.receive(p.t.Context(), provider, raw, header); domain.CodeOf(err) != domain.Invalid {
		p.t.Errorf("a forged webhook of %s was answered with %v", provider, err)
	}
}
