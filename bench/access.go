package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"hostpanel/http/route"
)

// access measures what it costs to find out who reads and what they may see:
// a user's tenants over real connections, against the very same routes with
// the caller known beforehand.
func (r *run) access(ctx context.Context) error {
	p, err := r.panel(ctx, "bench_access")
	if err != nil {
		return err
	}
	defer p.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	size := userCounts{readers: 200, users: 2000, tenantsOfReader: 25}
	if r.Smoke {
		size.readers, size.users = 16, 50
	}
	made, err := p.makeUsers(ctx, size)
	if err != nil {
		return err
	}
	at, held, err := r.doors(ctx, p, made)
	if err != nil {
		return err
	}
	for _, read := range []reading{
		{"detail", func(who int) string { return fmt.Sprintf("%s%d/", tenantsPath, who+1) }},
		{"list of 20", func(int) string { return tenantsPath }},
	} {
		for _, clients := range []int{1, 16} {
			if err := r.compare(ctx, at, held, read, clients); err != nil {
				return err
			}
		}
	}
	return r.refresh(ctx, at[checked], held)
}

// A reading is one query.
type reading struct {
	name string
	path func(who int) string
}

const tenantsPath = "/hosting/api/rest/tenants/"

// The doors through which the same rows are read.
const (
	open    = "open"
	checked = "checked"
	limited = "checked and counted"
)

// doors opens all three, and has everybody who reads sign in.
func (r *run) doors(ctx context.Context, p *panel, t userCounts) (at map[string]string, held []pair, err error) {
	at = map[string]string{}
	for name, limits := range map[string]bool{checked: false, limited: true} {
		if at[name], err = listen(ctx, p.program(limits).Server().Handler()); err != nil {
			return nil, nil, err
		}
	}
	if held, err = signIn(ctx, at[checked], t); err != nil {
		return nil, nil, err
	}
	handler, err := unchecked(ctx, p.program(false).Server().Areas(), held)
	if err == nil {
		at[open], err = listen(ctx, handler)
	}
	return at, held, err
}

// unchecked serves the tenants' routes to callers who are known already: all
// that is done about a token is to look it up in memory.
func unchecked(ctx context.Context, areas []route.Area, held []pair) (http.Handler, error) {
	for _, area := range areas {
		bare := route.Area{Name: area.Name, Prefix: area.Prefix, Access: route.Open}
		for _, x := range area.Routes {
			if !strings.HasPrefix(x.Path, tenantsPath) || x.Method != http.MethodGet {
				continue
			}
			rule := area.Access
			if x.Access.Identify != nil {
				rule = x.Access
			}
			known, err := knownTo(ctx, rule, held)
			if err != nil {
				return nil, err
			}
			x.Access = known
			bare.Routes = append(bare.Routes, x)
		}
		if len(bare.Routes) > 0 {
			return route.Mount(route.Options{Title: "bench", PublicURL: func() string { return "http://127.0.0.1" }}, bare), nil
		}
	}
	return nil, errors.New("nobody serves tenants")
}

// knownTo asks a rule once who the callers are.
func knownTo(ctx context.Context, rule route.Access, held []pair) (route.Access, error) {
	callers := map[string]route.Caller{}
	for _, h := range held {
		header := "Bearer " + h.Access
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, tenantsPath, nil)
		if err != nil {
			return rule, err
		}
		request.Header.Set("Authorization", header)
		if callers[header], err = rule.Identify(ctx, route.Request{Request: request}); err != nil {
			return rule, err
		}
	}
	known := route.Open
	known.Identify = func(_ context.Context, r route.Request) (route.Caller, error) {
		return callers[r.Header.Get("Authorization")], nil
	}
	return known, nil
}

// listen serves on a port of this machine until ctx ends.
func listen(ctx context.Context, handler http.Handler) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String(), nil
}

// compare lets the doors take turns, so that what else the machine does falls
// on all of them.
func (r *run) compare(ctx context.Context, at map[string]string, held []pair, read reading, clients int) error {
	found := map[string][]load{}
	for range r.rounds {
		for _, door := range []string{open, checked, limited} {
			l, err := r.reads(ctx, at[door], held, read, clients)
			if err != nil {
				return fmt.Errorf("%s of tenants, %s: %w", read.name, door, err)
			}
			found[door] = append(found[door], l)
		}
	}
	for _, door := range []string{open, checked, limited} {
		line := Result{
			Section: "access", Name: fmt.Sprintf("%s, %s, %d clients", read.name, door, clients), Unit: "/s",
			Value: middle(found[door], rate),
		}
		peer := middle(found[open], rate)
		if clients == 1 {
			line = Result{
				Section: "access", Name: fmt.Sprintf("%s, %s, idle, p50", read.name, door), Unit: "ms",
				Value: middle(found[door], p50),
			}
			peer = middle(found[open], p50)
		}
		if door != open {
			line.Ratio, line.Peer, line.Bar, line.AtMost = line.Value/peer, open, 0.8, clients == 1
		}
		if line.AtMost {
			line.Bar = 1.25
		}
		r.report(line)
	}
	return nil
}

func rate(l load) float64 { return l.perSecond }
func p50(l load) float64  { return milliseconds(l.at(0.5)) }

func middle(all []load, of func(load) float64) float64 {
	var values []float64
	for _, l := range all {
		values = append(values, of(l))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// reads lets clients read, as one of those who have signed in after the other.
func (r *run) reads(ctx context.Context, address string, held []pair, read reading, clients int) (load, error) {
	callers, hangUp, err := callersOf(ctx, address, clients)
	if err != nil {
		return load{}, err
	}
	defer hangUp()
	return together(ctx, clients, r.duration, func(_ context.Context, client, n int) error {
		who := (client*len(held)/clients + n) % len(held)
		_, err := callers[client].get(read.path(who), held[who].Access)
		return err
	})
}

// A pair is the tokens of a signed-in user.
type pair struct {
	Access  string `json:"access"`
	Refresh string `json:"refresh"`
}

// signIn signs everybody in who reads.
func signIn(ctx context.Context, address string, t userCounts) (held []pair, err error) {
	callers, hangUp, err := callersOf(ctx, address, 1)
	if err != nil {
		return nil, err
	}
	defer hangUp()
	for n := range int64(t.readers) {
		body, err := callers[0].post("/api/token/", fmt.Sprintf(`{"username":%q,"password":%q}`, userAddress(n+1), t.password))
		if err != nil {
			return nil, err
		}
		var p pair
		if err := json.Unmarshal(body, &p); err != nil {
			return nil, err
		}
		held = append(held, p)
	}
	return held, nil
}

// refresh measures how many tokens are renewed, each caller its own.
func (r *run) refresh(ctx context.Context, address string, held []pair) error {
	const clients = 16
	callers, hangUp, err := callersOf(ctx, address, clients)
	if err != nil {
		return err
	}
	defer hangUp()
	renewed, err := r.median(func() (float64, error) {
		l, err := together(ctx, clients, r.duration, func(_ context.Context, client, _ int) error {
			body, err := callers[client].post("/api/token/refresh/", fmt.Sprintf(`{"refresh":%q}`, held[client].Refresh))
			if err != nil {
				return err
			}
			return json.Unmarshal(body, &held[client])
		})
		return l.perSecond, err
	})
	r.report(Result{Section: "access", Name: fmt.Sprintf("tokens refreshed, %d clients", clients), Value: renewed, Unit: "/s"})
	return err
}
