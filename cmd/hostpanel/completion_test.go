package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
)

func TestTheProgramTellsWhatCanFollow(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"|ord", "orders"},
		{"|com", "completion"}, // not the hidden command
		{"|orders|s", "show"},
		{"|orders|list|--stat", "--status"},
		{"|orders|--data-dir|/tmp|sh", "show"},
		{"|orders|--data-dir|s", ""}, // a folder belongs there
		{"|serve|--dem", "--demo"},
		{"|completion|", "bash\nzsh\nfish"},
		{"|serve|--secret", ""},
		{"|nothing|", ""},
	} {
		args := append([]string{"complete", "--"}, strings.Split(c.words, "|")[1:]...)
		code, out, complaint := told(t, args...)
		if got := strings.TrimSpace(out); code != console.Done || complaint != "" || got != c.want {
			t.Errorf("%q ends with %d: %q instead of %q, %s", c.words, code, got, c.want, complaint)
		}
	}
}

// typed is what a shell needs to complete "hostpanel orders sh" with a script,
// and to print what it found.
var typed = map[string]string{
	"bash": `source "$1"; COMP_WORDS=(hostpanel orders sh); COMP_CWORD=2; _hostpanel; echo "${COMPREPLY[@]}"`,
	"zsh":  `compdef() { :; }; compadd() { shift; print -r -- "$@"; }; source "$1"; words=(hostpanel orders sh); CURRENT=3; _hostpanel`,
	"fish": `source $argv[1]; complete -C "hostpanel orders sh"`,
}

func TestShellsCompleteWithTheirScripts(t *testing.T) {
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for shell, line := range typed {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil && shell != "bash" {
				t.Skipf("this machine has no %s, which neither the panel nor its tests need otherwise", shell)
			}
			must(t, err)
			_, script, _ := told(t, "completion", shell)
			file := filepath.Join(t.TempDir(), "script")
			must(t, os.WriteFile(file, []byte(script), 0o600))
			args := []string{"-c", line, shell, file}
			if shell == "fish" {
				args = []string{"-c", line, file}
			}
			cmd := exec.CommandContext(t.Context(), path, args...)
			cmd.Env = append(os.Environ(), fmt.Sprintf("PATH=%s:%s", filepath.Dir(program), os.Getenv("PATH")), "HOME="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "show" {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
}
