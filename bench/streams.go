package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/notice"
	"hostpanel/eventstore/clock"
)

// streamsEach is how many streams one user may have open.
const streamsEach = 10

// streams measures what it takes to let a thousand clients listen: the memory
// of a stream to which nothing happens, and how long an event takes from its
// command to a client among them.
func (r *run) streams(ctx context.Context) error {
	p, err := r.panel(ctx, "bench_streams")
	if err != nil {
		return err
	}
	defer p.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go p.store.Hints().Follow(ctx)
	idle, facts := 1000, 1000
	if r.Smoke {
		idle, facts = 50, 20
	}
	readers := idle/streamsEach + 1 // one of them is told something
	made, err := p.makeUsers(ctx, userCounts{readers: readers, users: int64(readers), tenantsOfReader: 1})
	if err != nil {
		return err
	}
	address, err := listen(ctx, p.program(false).Server().Handler())
	if err != nil {
		return err
	}
	held, err := signIn(ctx, address, made)
	if err != nil {
		return err
	}
	listener, err := hearing(ctx, address, held[readers-1].Access)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	hangUp, err := r.idleStreams(ctx, address, held[:readers-1])
	defer hangUp()
	if err != nil {
		return err
	}
	return r.hear(ctx, p, listener, int64(readers), facts)
}

// idleStreams opens ten streams for each of these people, and weighs them.
func (r *run) idleStreams(ctx context.Context, address string, held []pair) (hangUp func(), err error) {
	var open []net.Conn
	hangUp = func() {
		for _, c := range open {
			_ = c.Close()
		}
	}
	began, before := clock.Now(), weigh()
	for _, who := range held {
		for range streamsEach {
			conn, err := hearing(ctx, address, who.Access)
			if err != nil {
				return hangUp, err
			}
			open = append(open, conn)
		}
	}
	took, after, each := clock.Since(began), weigh(), float64(len(open))*1024
	r.report(
		Result{
			Section: "streams", Name: fmt.Sprintf("%d streams opened, one after the other", len(open)),
			Value: took.Seconds(), Unit: "s",
		},
	)
	r.report(
		Result{
			Section: "streams", Name: "an idle stream: heap", Value: float64(after.heap-before.heap) / each,
			Unit: "KiB", Note: "its client's socket included",
		},
	)
	r.report(
		Result{
			Section: "streams", Name: "an idle stream: stacks of its goroutines",
			Value: float64(after.stacks-before.stacks) / each, Unit: "KiB",
		},
	)
	r.report(
		Result{
			Section: "streams", Name: "an idle stream: resident memory",
			Value: float64(after.resident-before.resident) / each, Unit: "KiB",
		},
	)
	r.report(
		Result{
			Section: "streams", Name: "an idle stream: goroutines",
			Value: float64(after.goroutines-before.goroutines) / float64(len(open)), Unit: "",
		},
	)
	return hangUp, nil
}

// A weight is what the process takes.
type weight struct {
	heap, stacks, resident int64 // bytes
	goroutines             int
}

// weigh collects garbage first.
func weigh() weight {
	for range 4 { // a stack that is hardly used shrinks by half each time
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return weight{int64(m.HeapAlloc), int64(m.StackInuse), resident(), runtime.NumGoroutine()}
}

// resident is the memory that the system has given to the process; 0 where it
// does not tell.
func resident() int64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if size, is := strings.CutPrefix(line, "VmRSS:"); is {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(size), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// hearing opens a stream and reads its beginning.
func hearing(ctx context.Context, address, token string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(
		conn,
		"GET /notifications/api/v1/notifications/stream/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: "+
			"text/event-stream\r\nAuthorization: Bearer %s\r\n\r\n",
		token,
	)
	if err == nil {
		err = readUntil(conn, "retry: 2000\n\n")
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// readUntil reads until something was said.
func readUntil(conn net.Conn, text string) error {
	_ = conn.SetReadDeadline(clock.Now().Add(time.Minute))
	var said []byte
	for part := make([]byte, 1024); !bytes.Contains(said, []byte(text)); {
		n, err := conn.Read(part)
		if err != nil {
			return fmt.Errorf("read a stream: %w", err)
		}
		if said = append(said, part[:n]...); bytes.HasPrefix(said, []byte("HTTP/1.1 4")) {
			return fmt.Errorf("a stream is refused: %s", said)
		}
	}
	return nil
}

// hear tells one client one thing after another.
func (r *run) hear(ctx context.Context, p *panel, listener net.Conn, user int64, facts int) error {
	var told, heard []time.Duration
	for range facts {
		id := uuid.New()
		began := clock.Now()
		_, err := p.store.Execute(ctx, operator, notice.Raise{
			ID: id, InApp: true, User: user,
			Text: notice.Text{Type: notice.Info, Title: "News", Message: "Something has happened.", URL: "/"}, At: began,
		})
		if err != nil {
			return err
		}
		told = append(told, clock.Since(began))
		if err := readUntil(listener, id.String()); err != nil {
			return err
		}
		heard = append(heard, clock.Since(began))
	}
	slices.Sort(told)
	slices.Sort(heard)
	written, client := load{latencies: told}, load{latencies: heard}
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		r.report(
			Result{
				Section: "streams", Name: "command until its event is in the log, " + q.name,
				Value: milliseconds(written.at(q.at)), Unit: "ms",
			},
		)
		r.report(
			Result{
				Section: "streams", Name: "command until the client has heard of it, " + q.name,
				Value: milliseconds(client.at(q.at)), Unit: "ms",
			},
		)
	}
	return nil
}
