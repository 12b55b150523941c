package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"hostpanel/eventstore/clock"
)

// A caller is a client with one connection, which costs next to nothing: what
// is measured is the panel.
type caller struct {
	conn net.Conn
	in   *bufio.Reader
	out  bytes.Buffer
}

// callersOf connects as many clients as there are to be.
func callersOf(ctx context.Context, address string, n int) (all []*caller, hangUp func(), err error) {
	hangUp = func() {
		for _, c := range all {
			_ = c.conn.Close()
		}
	}
	for range n {
		conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			hangUp()
			return nil, nil, err
		}
		all = append(all, &caller{conn: conn, in: bufio.NewReader(conn)})
	}
	return all, hangUp, nil
}

// get reads with an access token, or without one.
func (c *caller) get(path, token string) ([]byte, error) {
	c.out.Reset()
	fmt.Fprintf(&c.out, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n", path)
	if token != "" {
		fmt.Fprintf(&c.out, "Authorization: Bearer %s\r\n", token)
	}
	c.out.WriteString("\r\n")
	return c.exchange(path)
}

// visit reads with the session of a browser.
func (c *caller) visit(path, session string) ([]byte, error) {
	c.out.Reset()
	fmt.Fprintf(&c.out, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: session=%s\r\n\r\n", path, session)
	return c.exchange(path)
}

// post sends JSON, with whole lines of headers.
func (c *caller) post(path, body string, headers ...string) ([]byte, error) {
	c.out.Reset()
	fmt.Fprintf(&c.out, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", path, len(body))
	for _, h := range headers {
		c.out.WriteString(h + "\r\n")
	}
	c.out.WriteString("\r\n" + body)
	return c.exchange(path)
}

// patch asks for a change with an access token, without a body.
func (c *caller) patch(path, token string) ([]byte, error) {
	c.out.Reset()
	fmt.Fprintf(&c.out, "PATCH %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Length: 0\r\n\r\n", path, token)
	return c.exchange(path)
}

// exchange sends what is written and reads the answer, which has to be 200 or 201.
func (c *caller) exchange(path string) ([]byte, error) {
	_ = c.conn.SetDeadline(clock.Now().Add(time.Minute))
	if _, err := c.conn.Write(c.out.Bytes()); err != nil {
		return nil, err
	}
	status, length, err := c.head()
	if err != nil {
		return nil, err
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(c.in, body); err != nil {
		return nil, err
	}
	if status != 200 && status != 201 {
		return nil, fmt.Errorf("%s answers %d: %s", path, status, body)
	}
	return body, nil
}

// head reads the status and headers of an answer.
func (c *caller) head() (status, length int, err error) {
	line, err := c.in.ReadSlice('\n') // HTTP/1.1 200 OK
	if err != nil || len(line) < 12 {
		return 0, 0, fmt.Errorf("no answer: %w", err)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, 0, err
	}
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return 0, 0, err
		}
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
		switch {
		case len(name) == 0:
			return status, length, nil
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, 0, err
			}
		}
	}
}
