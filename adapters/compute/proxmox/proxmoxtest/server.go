// Package proxmoxtest is a double of a Proxmox VE cluster: a server with state that behaves
// as the public sources of 9.x say. No real cluster was asked; docs/machines.md has what is
// to be tried at one.
//
// Its clock is the number of calls. A task ends some calls after it has begun, so a story
// that reads until a state is there needs no pauses.
package proxmoxtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Token and Secret open the double.
const (
	Token  = "hostpanel@pve!panel"
	Secret = "4f1c2a8e-0000-4000-8000-c0ffee15900d"
)

const gigabyte = int64(1) << 30

// A Server is the double.
type Server struct {
	Faults Faults

	https *httptest.Server

	mu       sync.Mutex
	clock    int
	nodes    map[string]*node
	machines map[int64]*machine
	volumes  map[string]*Volume
	storages map[string]*storage
	tasks    []*task
	granted  map[string]bool // privileges; those on all paths
	clones   map[int64]int
	starts   map[int64]int
	pids     int
	screens  map[string]int64 // tickets of open doors → machine
}

type node struct {
	name     string
	cores    int
	memoryMB int64
	away     bool
}

type storage struct {
	name   string
	size   int64
	shared bool
	node   string // "": every node has it
}

// Privileges are all that the panel needs.
var Privileges = []string{
	"VM.Allocate", "VM.Clone", "VM.Audit", "VM.PowerMgmt", "VM.Console", "VM.Snapshot", "VM.GuestAgent.Audit",
	"VM.Config.Disk", "VM.Config.CDROM", "VM.Config.CPU", "VM.Config.Memory", "VM.Config.Network",
	"VM.Config.HWType", "VM.Config.Options", "VM.Config.Cloudinit",
	"Datastore.AllocateSpace", "Datastore.Audit", "SDN.Use", "Sys.Audit",
}

// Start starts a cluster with one node, "pve1", with the storage "local-lvm" of 500 GB and
// the template "debian-13", number 9000. Call Close.
func Start() *Server {
	s := &Server{
		nodes: map[string]*node{}, machines: map[int64]*machine{}, volumes: map[string]*Volume{},
		storages: map[string]*storage{}, granted: map[string]bool{}, clones: map[int64]int{}, starts: map[int64]int{},
		screens: map[string]int64{}, pids: 4000, Faults: Faults{failing: map[string]string{}, holding: map[string]bool{}},
	}
	for _, privilege := range Privileges {
		s.granted[privilege] = true
	}
	s.AddNode("pve1", 16, 64<<10)
	s.AddStorage("local-lvm", "", 500, false)
	s.AddTemplate(9000, "debian-13", "pve1", 2)
	s.https = httptest.NewTLSServer(s)
	return s
}

// Close ends it.
func (s *Server) Close() { s.https.Close() }

// URL is where it is.
func (s *Server) URL() string { return s.https.URL }

// Fingerprint is that of its certificate, in the form in which Proxmox shows it.
func (s *Server) Fingerprint() string {
	return strings.ReplaceAll(fmt.Sprintf("% X", sha256.Sum256(s.https.Certificate().Raw)), " ", ":")
}

// CAFile writes the certificate that signs its own.
func (s *Server) CAFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pve-root-ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.https.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// AddNode adds a node.
func (s *Server) AddNode(name string, cores int, memoryMB int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[name] = &node{name: name, cores: cores, memoryMB: memoryMB}
}

// AddStorage adds a storage for images; node "": every node has it.
func (s *Server) AddStorage(name, node string, gb int64, shared bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.storages[name] = &storage{name: name, size: gb * gigabyte, shared: shared, node: node}
}

// A request is a call that has a handler.
type request struct {
	*http.Request
	path map[string]string
	form map[string]string
}

func (r request) id() int64 { return whole(r.path["vmid"]) }

// A refusal is an answer that is an error.
type refusal struct {
	status int
	text   string
	errors map[string]string
	plain  bool // of the proxy before the API: no JSON
}

func (r *refusal) Error() string { return r.text }

func dies(format string, args ...any) error {
	return &refusal{status: http.StatusInternalServerError, text: fmt.Sprintf(format, args...)}
}

func invalid(name, format string, args ...any) error {
	return &refusal{
		status: http.StatusBadRequest, text: "Parameter verification failed.",
		errors: map[string]string{name: fmt.Sprintf(format, args...)},
	}
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Faults.wait()
	if strings.HasSuffix(r.URL.Path, "/vncwebsocket") {
		s.screen(w, r)
		return
	}
	data, err, lost := s.answer(r)
	switch refused, is := err.(*refusal); { //nolint:errorlint // handlers return it bare
	case lost:
		abandon(w)
	case err != nil && !is:
		panic(err)
	case err != nil:
		refused.write(w)
	default:
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		if err := json.NewEncoder(w).Encode(map[string]any{"data": data}); err != nil {
			panic(err)
		}
	}
}

// answer carries a call out; lost: its answer does not arrive.
func (s *Server) answer(r *http.Request) (data any, err error, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(1)
	data, err = s.carryOut(r)
	return data, err, s.Faults.loses(r.Method, strings.TrimPrefix(r.URL.Path, "/api2/json"))
}

func (s *Server) carryOut(r *http.Request) (any, error) {
	if err := s.admit(r); err != nil {
		return nil, err
	}
	c, path := lookUp(r.Method, strings.TrimPrefix(r.URL.EscapedPath(), "/api2/json"))
	if c == nil {
		return nil, &refusal{status: http.StatusNotImplemented, text: fmt.Sprintf("Method '%s %s' not implemented", r.Method, r.URL.Path)}
	}
	form, err := parameters(r, c)
	if err != nil {
		return nil, err
	}
	if err := s.reach(path["node"]); err != nil {
		return nil, err
	}
	q := request{Request: r, path: path, form: form}
	if err := s.allowedAll(c.privileges, "/vms/"+path["vmid"]); err != nil {
		return nil, err
	}
	if c.of == nil {
		return c.do(s, q)
	}
	m, err := s.at(q)
	if err != nil {
		return nil, err
	}
	return c.of(s, m, q)
}

// admit checks the token. A body that may not be there is refused by the proxy.
func (s *Server) admit(r *http.Request) error {
	token, is := strings.CutPrefix(r.Header.Get("Authorization"), "PVEAPIToken=")
	switch {
	case !is:
		return &refusal{status: http.StatusUnauthorized, text: "No ticket", plain: true}
	case token != Token+"="+Secret:
		return &refusal{status: http.StatusUnauthorized, text: "Authentication failed!", plain: true}
	case r.ContentLength > 0 && r.Method != http.MethodPost && r.Method != http.MethodPut:
		return &refusal{status: http.StatusNotImplemented, text: "Unexpected content for method '" + r.Method + "'", plain: true}
	}
	return nil
}

func (s *Server) reach(name string) error {
	n, is := s.nodes[name]
	switch {
	case name == "":
		return nil
	case !is:
		return dies("hostname lookup '%s' failed - failed to get address info for: %s: Name or service not known", name, name)
	case n.away:
		return &refusal{status: 595, text: "No route to host", plain: true}
	}
	return nil
}

func (s *Server) allowedAll(privileges []string, path string) (err error) {
	for _, privilege := range privileges {
		err = cmp.Or(err, s.allowed(privilege, path))
	}
	return err
}

// allowed checks a privilege; some, parted by "|": one of them.
func (s *Server) allowed(privileges, path string) error {
	if slices.ContainsFunc(strings.Split(privileges, "|"), func(p string) bool { return s.granted[p] }) {
		return nil
	}
	return &refusal{status: http.StatusForbidden, text: fmt.Sprintf("Permission check failed (%s, %s)", path, privileges)}
}

// parameters reads the form and refuses what the call does not know.
func parameters(r *http.Request, c *call) (map[string]string, error) {
	if err := r.ParseForm(); err != nil {
		return nil, &refusal{status: http.StatusBadRequest, text: "bad request", plain: true}
	}
	form, errors := map[string]string{}, map[string]string{}
	for name, values := range r.Form {
		form[name] = values[0]
		rule, known := c.rule(name)
		if !known {
			errors[name] = "property is not defined in schema and the schema does not allow additional properties"
		} else if rule != nil && !rule.MatchString(values[0]) {
			errors[name] = fmt.Sprintf("value does not match the regex pattern or format (%s)", rule)
		}
	}
	for _, name := range c.required {
		if form[name] == "" {
			errors[name] = "property is missing and it is not optional"
		}
	}
	if len(errors) > 0 {
		return nil, &refusal{status: http.StatusBadRequest, text: "Parameter verification failed.", errors: errors}
	}
	return form, nil
}

// write writes a refusal. The text is the reason in the status line too, which the server of
// the standard library cannot write.
func (r *refusal) write(w http.ResponseWriter) {
	body, kind := []byte(r.text), "text/plain"
	if !r.plain {
		answer := map[string]any{"data": nil, "message": r.text + "\n"}
		if r.errors != nil {
			answer["errors"] = r.errors
		}
		body, _ = json.Marshal(answer)
		kind = "application/json;charset=UTF-8"
	}
	connection, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer connection.Close() //nolint:errcheck // it is over
	fmt.Fprintf(out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		r.status, strings.ReplaceAll(r.text, "\n", " "), kind, len(body), body)
	_ = out.Flush()
}

// abandon closes the connection without an answer.
func abandon(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = connection.Close()
}

// lookUp is the call of a path, with the parts of the path by their names.
func lookUp(method, path string) (*call, map[string]string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i := range calls {
		pattern := strings.Split(calls[i].path, "/")
		if calls[i].method != method || len(pattern) != len(parts) {
			continue
		}
		named, same := map[string]string{}, true
		for j, want := range pattern {
			got, err := url.PathUnescape(parts[j])
			if name, is := strings.CutPrefix(want, ":"); is && err == nil {
				named[name] = got
			} else {
				same = same && want == got
			}
		}
		if same {
			return &calls[i], named
		}
	}
	return nil, nil
}

func whole(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

func sorted[K int64 | string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func pattern(p string) *regexp.Regexp { return regexp.MustCompile("^(?:" + p + ")$") }
