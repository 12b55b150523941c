package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore/sealing"
)

// A counted is a whole program of its own, with a wire between it and the
// database. It is talked to over HTTP only, so that any version can be counted.
type counted struct {
	wire   *wire
	direct *pgx.Conn // past the wire
	folder string
	secret string
	binary string

	background Counts // of a second without an operation

	cmd   *exec.Cmd
	ended chan error
	said  bytes.Buffer // on standard error; complete once it has ended

	base                string  // URL
	sites, certificates []int64 // made so far
	token               struct{ admin, operator string }
	demo                struct {
		Superuser, Admin struct{ Username, Password string }
		Key              string
		Plan             int64
	}
}

// startCounted sets up what `serve --demo` sets up, and then serves it in earnest: with
// test payments and the sandboxes, without limits of calls.
func (r *run) startCounted(ctx context.Context) (c *counted, err error) {
	c = &counted{secret: sealing.NewSecretKey(), binary: r.Program}
	database, err := r.empty(ctx, "bench_counts")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.close()
			err = fmt.Errorf("%w\n%s", err, c.said.Bytes())
		}
	}()
	if c.folder, err = os.MkdirTemp("", "hostpanel-counts-"); err != nil {
		return c, err
	}
	if c.binary == "" {
		if c.binary, err = buildPanel(ctx, c.folder); err != nil {
			return c, err
		}
	}
	if c.direct, err = pgx.Connect(ctx, database); err != nil {
		return c, err
	}
	if c.wire, err = openWire(ctx, database); err != nil {
		return c, err
	}
	if err := c.serve(ctx, "--demo"); err != nil {
		return c, err
	}
	if err := c.end(); err != nil {
		return c, err
	}
	if err := c.readDemo(); err != nil {
		return c, err
	}
	if err := c.serve(ctx); err != nil {
		return c, err
	}
	return c, c.signIn(ctx)
}

// buildPanel builds the panel as it stands in the repository of this module.
func buildPanel(ctx context.Context, folder string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "hostpanel").Output()
	if err != nil {
		return "", fmt.Errorf("find the panel's folder (run in bench/, or name a program by --program): %w", err)
	}
	binary := filepath.Join(folder, "hostpanel")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "./cmd/hostpanel")
	build.Dir = strings.TrimSpace(string(root))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the panel: %w\n%s", err, out)
	}
	return binary, nil
}

// serve starts the program and returns once it is ready.
func (c *counted) serve(ctx context.Context, more ...string) error {
	cmd := exec.CommandContext(
		context.WithoutCancel(ctx), c.binary,
		append([]string{"serve", "--listen", "127.0.0.1:0", "--data-dir", c.folder}, more...)...,
	)
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); name == "PATH" || name == "HOME" || name == "TMPDIR" {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(
		cmd.Env, "DATABASE_URL="+c.wire.url, "HOSTPANEL_SECRET_KEY="+c.secret, "HOSTPANEL_LOG_LEVEL=error",
		"HOSTPANEL_ENGINE_WAIT=20s",
	)
	if len(more) == 0 {
		cmd.Env = append(cmd.Env, "HOSTPANEL_TEST_PAYMENTS=on", "HOSTPANEL_ABUSE_LIMITS=off")
	}
	cmd.Stderr = &c.said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ready := make(chan string, 1)
	c.cmd, c.ended = cmd, make(chan error, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if base, is := strings.CutPrefix(lines.Text(), "hostpanel is ready at "); is {
				ready <- base
			}
		}
		c.ended <- cmd.Wait()
	}()
	select {
	case c.base = <-ready:
		return nil
	case err := <-c.ended:
		c.cmd = nil
		return fmt.Errorf("%s ended: %w", c.binary, err)
	case <-time.After(2 * time.Minute):
		return errors.New("the program is not ready after two minutes")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end stops the program as its supervisor would.
func (c *counted) end() error {
	if c.cmd == nil {
		return nil
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	err := <-c.ended
	c.cmd = nil
	return err
}

func (c *counted) close() {
	_ = c.end()
	if c.wire != nil {
		c.wire.close()
	}
	if c.direct != nil {
		_ = c.direct.Close(context.Background())
	}
	_ = os.RemoveAll(c.folder)
}

func (c *counted) readDemo() error {
	text, err := os.ReadFile(filepath.Join(c.folder, "demo.json"))
	if err != nil {
		return err
	}
	var d struct {
		Superuser struct{ Username, Password string } `json:"superuser"`
		Admin     struct{ Username, Password string } `json:"tenant_admin"`
		Key       string                              `json:"api_key"`
		Plans     struct{ Hosting int64 }             `json:"plans"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	c.demo.Superuser, c.demo.Admin, c.demo.Key, c.demo.Plan = d.Superuser, d.Admin, d.Key, d.Plans.Hosting
	return nil
}

func (c *counted) signIn(ctx context.Context) error {
	for _, who := range []struct {
		username, password string
		token              *string
	}{
		{c.demo.Admin.Username, c.demo.Admin.Password, &c.token.admin},
		{c.demo.Superuser.Username, c.demo.Superuser.Password, &c.token.operator},
	} {
		var pair struct{ Access string }
		if err := c.call(
			ctx, 200, "POST", "/api/token/", fmt.Sprintf(`{"username":%q,"password":%q}`, who.username, who.password),
			&pair,
		); err != nil {
			return err
		}
		*who.token = "Bearer " + pair.Access
	}
	return nil
}

var countedClient = &http.Client{
	Timeout:       time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// call sends a request that has to be answered with this status. Headers come
// in pairs.
func (c *counted) call(ctx context.Context, want int, method, path, body string, into any, headers ...string) error {
	q, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	a, err := countedClient.Do(q)
	if err != nil {
		return err
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != want {
		err = fmt.Errorf("%s %s is answered with %d: %s", method, path, a.StatusCode, text)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	return err
}

// synced is call for what the engine has carried out when it is answered.
func (c *counted) synced(ctx context.Context, want int, method, path, body string, headers []string) (id int64, err error) {
	var shown struct {
		ID         int64
		SyncStatus string `json:"sync_status"`
	}
	err = c.call(ctx, want, method, path, body, &shown, headers...)
	if err == nil && shown.SyncStatus != "synced" {
		err = fmt.Errorf("%s %s is %s", method, path, shown.SyncStatus)
	}
	return shown.ID, err
}
