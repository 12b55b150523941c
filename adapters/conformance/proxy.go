package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Proxy stands between an adapter and the system behind it, on an address of this
// machine alone. It passes every call on, and can lose an answer: the call is
// carried out, and the connection is cut.
type Proxy struct {
	URL string // where the adapter is to call

	to   *url.URL
	call func(*http.Request) string // names the call that a request makes
	uses http.Client

	mu   sync.Mutex
	left int      // calls until the one whose answer is lost; 0: none
	lose []string // calls whose next answer is lost
	done bool     // an answer was lost
}

// NewProxy starts a proxy before the system at an address; it ends with the
// context. call names the call that a request makes; "" is a call, such as a
// login, whose answer is never lost.
func NewProxy(ctx context.Context, system string, call func(*http.Request) string) (*Proxy, error) {
	to, err := url.Parse(system)
	if err != nil {
		return nil, fmt.Errorf("read the address of the system: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the adapter: %w", err)
	}
	p := &Proxy{URL: "http://" + listener.Addr().String(), to: to, call: call}
	p.uses.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	server := &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }()
	return p, nil
}

// Cut loses the answer of the nth call from now on. The returned function ends that, and
// reports whether such a call came.
func (p *Proxy) Cut(n int) (cut func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.done = n, false
	return func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.left = 0
		return p.done
	}
}

// Lose loses the answer of the next of these calls.
func (p *Proxy) Lose(calls ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose = calls
}

// ServeHTTP passes a call on.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, header, body, err := p.pass(r)
	if err != nil || p.loses(p.call(r)) {
		panic(http.ErrAbortHandler) // cuts the connection
	}
	w.Header().Set("Content-Type", header)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func (p *Proxy) pass(r *http.Request) (status int, kind string, body []byte, err error) {
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return 0, "", nil, fmt.Errorf("read a call: %w", err)
	}
	to := *p.to
	to.Path, to.RawQuery = strings.TrimSuffix(to.Path, "/")+r.URL.Path, r.URL.RawQuery
	request, err := http.NewRequestWithContext(r.Context(), r.Method, to.String(), bytes.NewReader(sent))
	if err != nil {
		return 0, "", nil, errors.New("a call to no address")
	}
	request.Header.Set("Content-Type", r.Header.Get("Content-Type"))
	answer, err := p.uses.Do(request)
	if err != nil {
		return 0, "", nil, errors.New("the system does not answer")
	}
	defer func() { _ = answer.Body.Close() }()
	body, err = io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header.Get("Content-Type"), body, err
}

// loses counts the calls, and tells whether the answer of this one is lost.
func (p *Proxy) loses(call string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if call == "" {
		return false
	}
	if slices.Contains(p.lose, call) {
		p.lose = nil
		return true
	}
	if p.left > 0 {
		p.left--
		p.done = p.done || p.left == 0
		return p.left == 0
	}
	return false
}
