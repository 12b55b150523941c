//go:build clients

package http_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

const clientsFolder = "testdata/clients"

// Clients that others generate from the API document make every call of the
// hosting API, typed, over a real connection (docs/api.md, "Generated
// clients"). `make clients` runs this; it needs node and npm.
func TestGeneratedClientsMakeEveryCall(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); errors.Is(err, exec.ErrNotFound) && os.Getenv("CI") == "" {
		t.Log("npm is not installed: clients in TypeScript and Go are not made")
		return
	}
	document := declared().Document()
	calls := clientCalls(t, document)
	write(t, "client/openapi.gen.json", string(document))
	write(t, "calls/calls.gen.ts", calls.typeScript())
	write(t, "calls/calls.gen.go", calls.golang())
	t.Run("nothing is wrong with the document", func(t *testing.T) {
		at(t, nil, "node_modules/.bin/redocly", "lint", "client/openapi.gen.json")
	})
	t.Run("TypeScript", func(t *testing.T) {
		at(t, nil, "node_modules/.bin/openapi-typescript", "client/openapi.gen.json", "--default-non-nullable=false",
			"--output", "client/api.gen.ts")
		at(t, nil, "node_modules/tsc/bin/tsc")
		at(t, aPanel(t), "node", "calls/out/calls/calls.gen.js")
	})
	t.Run("Go", func(t *testing.T) {
		at(t, nil, "go", "tool", "oapi-codegen", "-config", "oapi-codegen.yaml", "client/openapi.gen.json")
		at(t, aPanel(t), "go", "run", "./calls")
	})
}

// aPanel is one that runs, as the environment of those who call it.
func aPanel(t *testing.T) []string {
	t.Helper()
	s := billedForExamples(t, provable(t, paneltest.House(t).Told(t).Hooked(t))).Start(t)
	program := s.SignIns(t, paneltest.Bearer(s.SignIn(t, "ben@example.com", paneltest.GoodPassword).Access)...)[0]
	known := maps.Clone(s.Known)
	known["program"] = program.ID
	known["url"] = s.Public
	text, err := json.Marshal(known)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"PANEL=" + string(text)}
}

// at runs a program in the folder of the clients.
func at(t *testing.T, environment []string, name string, arguments ...string) {
	t.Helper()
	began := time.Now()
	c := exec.CommandContext(t.Context(), name, arguments...)
	c.Dir, c.Env = clientsFolder, append(os.Environ(), environment...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, out)
	}
	t.Logf("%s took %s", name, time.Since(began).Round(time.Millisecond))
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(clientsFolder+"/client", 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(clientsFolder+"/"+name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// clientCalls reads the calls that clients are to make. Each route of the
// document that they are about has to be there, with success.
func clientCalls(t *testing.T, document []byte) clientProgram {
	t.Helper()
	text, err := os.ReadFile(clientsFolder + "/calls.http")
	if err != nil {
		t.Fatal(err)
	}
	calls, made := callableIn(t, document), map[string]bool{}
	var p clientProgram
	for _, turn := range routetest.Parse(string(text)) {
		call, err := calls.call(turn)
		if err != nil {
			t.Errorf("calls.http:%d: %s %s: %v", turn.Line, turn.Method, turn.Path, err)
			continue
		}
		p = append(p, call)
		made[call.id] = made[call.id] || call.status < 300
	}
	slices.SortFunc(calls, func(a, b apiOperation) int { return strings.Compare(a.path, b.path) })
	for _, o := range calls {
		if o.concernsClients() && !made[o.id] {
			t.Errorf("no generated client makes the call %s %s: it is missing in %s/calls.http", o.method, o.path, clientsFolder)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	return p
}
