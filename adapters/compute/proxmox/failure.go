package proxmox

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// soon is when a call that has to wait is to be repeated.
const soon = 2 * time.Second

// errorTexts are the texts of Proxmox that mean more than their status: those of calls and
// those with which tasks end. They are English in every installation.
var errorTexts = []struct {
	pattern *regexp.Regexp
	class   domain.Class
	code    string
}{
	{regexp.MustCompile(`is locked \(|can't lock file|got lock request timeout`), domain.Waiting, "moving"},
	{regexp.MustCompile(`Failed to obtain guest migration lock`), domain.Waiting, "moving"},
	{regexp.MustCompile(`Configuration file '\S+' does not exist|VM \d+ does not exist|no such VM`), domain.Permanent, "absent"},
	{regexp.MustCompile(`config file already exists|VM \d+ already exists`), domain.Transient, "exists"},
	{regexp.MustCompile(`shrinking disks is not supported`), domain.Permanent, "disk_shrinks"},
	{regexp.MustCompile(`(?i)not enough free space|no space left|out of space|cannot allocate memory`), domain.Permanent, "node_full"},
	{regexp.MustCompile(`(?:Linked|Full) clone feature is not supported`), domain.Permanent, "no_template"},
	{regexp.MustCompile(`can't clone VM to node|can't clone to non-shared`), domain.Permanent, "no_template"},
	{regexp.MustCompile(`snapshot '\S+' does not exist`), domain.Permanent, "no_snapshot"},
	{regexp.MustCompile(`snapshot feature is not available`), domain.Permanent, "no_snapshots"},
	{regexp.MustCompile(`is not most recent snapshot`), domain.Permanent, "newer_snapshots"},
	{regexp.MustCompile(`protection mode enabled`), domain.Permanent, "protected"},
	{regexp.MustCompile(`SSH public key validation error`), domain.Permanent, "bad_key"},
	{regexp.MustCompile(`hotplug problem|unable to apply pending change`), domain.Transient, "hotplug"},
	{regexp.MustCompile(`no quorum|cluster not ready`), domain.Transient, "no_quorum"},
}

var lacking = regexp.MustCompile(`Permission check failed(?: \(\S+, ([^)]+)\))?`)

// refused is the failure of a call that was answered with an error.
func refused(method, path string, response *http.Response, body []byte) error {
	said := message(response, body)
	err := fmt.Errorf("proxmox: %s %s: %d %s", method, path, response.StatusCode, said)
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized:
		return denied("login", err)
	case status == http.StatusForbidden:
		return denied(lack(said), err)
	case status == 595 || status == http.StatusServiceUnavailable: // no connection to the node: it was not asked
		return domain.Fail(domain.Transient, "node_away", err)
	case status > 595 || status == http.StatusBadGateway || status == http.StatusGatewayTimeout:
		return domain.Fail(domain.Unknown, "no_answer", err)
	case status != http.StatusInternalServerError:
		return named(said, domain.Permanent, "refused", err)
	case method == http.MethodGet:
		return named(said, domain.Transient, "failed", err)
	}
	return named(said, domain.Unknown, "failed", err)
}

// named is the failure with the class of a known text, else with the given one.
func named(said string, class domain.Class, code string, err error) error {
	for _, known := range errorTexts {
		if known.pattern.MatchString(said) {
			class, code = known.class, known.code
			break
		}
	}
	failure := &domain.Failure{Class: class, Code: code, Err: err}
	if class == domain.Waiting {
		failure.RetryAfter = soon
	}
	return failure
}

// message is the text of a refusal. The API answers with JSON. The proxy before it answers
// with plain text, or with the reason in the status line alone.
func message(response *http.Response, body []byte) string {
	var answer struct {
		Message string          `json:"message"`
		Errors  map[string]text `json:"errors"`
	}
	said := strings.TrimSpace(strings.TrimPrefix(response.Status, fmt.Sprint(response.StatusCode)))
	if json.Unmarshal(body, &answer) != nil {
		if said == "" {
			said = string(body[:min(len(body), 200)])
		}
		return said
	}
	if answer.Message != "" {
		said = strings.TrimSpace(answer.Message)
	}
	for _, name := range slices.Sorted(maps.Keys(answer.Errors)) {
		said += "; " + name + ": " + strings.TrimSpace(string(answer.Errors[name]))
	}
	return said
}

// lack is the privilege that a refusal names.
func lack(said string) string {
	if found := lacking.FindStringSubmatch(said); len(found) > 1 && found[1] != "" {
		return found[1]
	}
	return "privileges"
}

// failedTask is the failure of a task by the text with which it ended.
func failedTask(task, ended string) error {
	err := fmt.Errorf("proxmox: task %s: %s", task, ended)
	if ended == "" || ended == "unexpected status" || strings.Contains(ended, "interrupted by signal") {
		return domain.Fail(domain.Unknown, "task_cut", err)
	}
	return named(ended, domain.Transient, "task_failed", err)
}

// codeOf is the code of a failure; "": err is none.
func codeOf(err error) string {
	var failure *domain.Failure
	if errors.As(err, &failure) {
		return failure.Code
	}
	return ""
}

func onItsWay() error { return compute.OnItsWay(soon) }

// denied is the failure where a privilege is missing without a refusal.
func denied(privilege string, err error) error {
	return &domain.Failure{Class: domain.Permanent, Code: "denied", Err: err, Lacks: privilege}
}
