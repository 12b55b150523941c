//go:build webhooks

package webhook_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	sender "hostpanel/adapters/webhook"
)

// To run this test, install its library by make webhooks.

// The library of Standard Webhooks takes what we send: by the secret of today
// and by the one before, and by no other.
func TestTheLibraryOfStandardWebhooksVerifiesWhatWeSend(t *testing.T) {
	var sent struct {
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		sent.Body, sent.Headers = string(body), map[string]string{}
		for name := range q.Header {
			sent.Headers[strings.ToLower(name)] = q.Header.Get(name)
		}
	}))
	defer s.Close()
	// Not at noon of some day: the library looks at the clock.
	if _, err := sender.New(sender.Options{Networks: loopback}).Deliver(
		t.Context(), s.URL, [][]byte{secret, another}, created,
	); err != nil {
		t.Fatal(err)
	}
	verdicts := func(secrets ...[]byte) string {
		t.Helper()
		args := []string{"verify.mjs"}
		for _, key := range secrets {
			args = append(args, "whsec_"+base64.StdEncoding.EncodeToString(key))
		}
		cmd := exec.CommandContext(t.Context(), "node", args...)
		cmd.Dir = "testdata/node"
		request, err := json.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = bytes.NewReader(request)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got := verdicts(secret, another, bytes.Repeat([]byte{1}, 32)); got != "taken: site.created\ntaken: "+
		"site.created\nrefused: No matching signature found\n" {
		t.Errorf("the library says %s", got)
	}
	sent.Body = strings.Replace(sent.Body, "42", "43", 1)
	if got := verdicts(secret); !strings.HasPrefix(got, "refused") {
		t.Errorf("of a message that was changed on the way the library says %s", got)
	}
}
