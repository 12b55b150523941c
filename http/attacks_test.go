package http_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	panel "hostpanel/http"
	"hostpanel/paneltest"
)

// A slow client is disconnected, and does not delay other clients.
func TestSlowClientsAreCutOff(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Server.Settings.Patience = panel.Patience{Header: 300 * time.Millisecond, Request: 300 * time.Millisecond}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Server.Serve(ctx, listener) }()
	cut := make(chan error)
	const clients = 50
	for i := range clients {
		begin := "POST /api/token/ HTTP/1.1\r\nHost: panel\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
		if i%2 == 1 {
			begin = "POST /api/token/ HTTP/1.1\r\nHost: panel\r\nX-Slow: "
		}
		go func() { cut <- drip(listener.Addr().String(), begin) }()
	}
	answer, err := http.Get("http://" + listener.Addr().String() + "/healthz")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("another client had to wait: %v", err)
	}
	_ = answer.Body.Close()
	for range clients {
		if err := <-cut; err != nil {
			t.Error(err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// drip begins a request and then sends single bytes until the server closes the
// connection.
func drip(address, begin string) error {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	over := make(chan error, 1)
	go func() {
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		switch {
		case err == nil:
			_ = answer.Body.Close()
			if answer.StatusCode < http.StatusBadRequest {
				err = fmt.Errorf("a request without an end got %d", answer.StatusCode)
			}
		case strings.Contains(err.Error(), "EOF"), strings.Contains(err.Error(), "reset"):
			err = nil
		}
		over <- err
	}()
	_, _ = io.WriteString(conn, begin)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-over:
			return err
		case <-tick.C:
			_, _ = conn.Write([]byte("x")) // a connection that was cut off cannot be written to
		}
	}
}
