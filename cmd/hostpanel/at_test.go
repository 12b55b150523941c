package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/console"
)

func TestOnlyListsCanBeAskedAboutAnotherMoment(t *testing.T) {
	demoForCommands(t)
	dir := t.TempDir()
	for _, wrong := range []struct {
		args []string
		says string
	}{
		{
			[]string{"at", "2026-11-21", "--", "user", "list"},
			"user list cannot be asked about another moment: only incidents list, invoices list, orders list",
		},
		{
			[]string{"at", "2026-11-21", "--", "plans", "create", "name=X"},
			"plans create cannot be asked about another moment",
		},
		{[]string{"at", "2026-11-21", "--", "serve"}, "serve cannot be asked about another moment"},
		{
			[]string{"at", "2026-11-21", "--", "at", "2026-11-21", "--", "plans", "list"},
			"at cannot be asked about another moment",
		},
		{[]string{"at", "2026-11-21", "--"}, "there is no command"},
		{[]string{"at", "yesterday", "--", "plans", "list"}, "is not a time"},
		{[]string{"serve", "--demo", "--as-of", "2026-11-21"}, "do not go together"},
	} {
		var out, complaint bytes.Buffer
		code := run(t.Context(), wrong.args, console.Console{Out: &out, Err: &complaint})
		if code != console.Usage || !strings.Contains(complaint.String(), wrong.says) {
			t.Errorf("%v: %d %s%s", wrong.args, code, out.String(), complaint.String())
		}
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	for _, line := range [][]string{
		{"at", now, "--data-dir", dir, "--", "plans", "list"}, {"at", now, "--", "plans", "list", "--data-dir", dir},
	} {
		if code, out, complaint := told(t, line...); code != console.Done || !strings.Contains(out, "VPS 2") {
			t.Errorf("%v: %d %s%s", line, code, out, complaint)
		}
	}
	for list, head := range map[string]string{"invoices": "issued (UTC)", "subscriptions": "paid until (UTC)"} {
		if code, out, complaint := told(t, "at", now, "--data-dir", dir, "--", list, "list"); code != console.Done ||
			!strings.Contains(out, head) {
			t.Errorf("%s: %d %s%s", list, code, out, complaint)
		}
	}
	if code, out, complaint := told(t, "at", "2000-01-01", "--", "plans", "list", "--json", "--data-dir",
		dir); code != console.Done || strings.Contains(out, "VPS 2") {
		t.Errorf("%d %s%s", code, out, complaint)
	}
	if code, _, complaint := told(t, "at", "2100-01-01", "--", "plans", "list", "--data-dir",
		dir); code != console.Failed || !strings.Contains(complaint, "That moment is not over yet.") {
		t.Errorf("%d %s", code, complaint)
	}
}
