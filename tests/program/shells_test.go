//go:build system

package program_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/tests/processtest"
)

// typed is what a shell needs to complete "hostpanel orders sh" with a script,
// and to print what it found.
var typed = map[string]string{
	"bash": `source "$1"; COMP_WORDS=(hostpanel orders sh); COMP_CWORD=2; _hostpanel; echo "${COMPREPLY[@]}"`,
	"zsh":  `compdef() { :; }; compadd() { shift; print -r -- "$@"; }; source "$1"; words=(hostpanel orders sh); CURRENT=3; _hostpanel`,
	"fish": `source $argv[1]; complete -C "hostpanel orders sh"`,
}

func TestShellsCompleteWithTheirScripts(t *testing.T) {
	program, err := processtest.Binary()
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
			script, err := exec.CommandContext(t.Context(), program, "completion", shell).Output()
			must(t, err)
			file := filepath.Join(t.TempDir(), "script")
			must(t, os.WriteFile(file, script, 0o600))
			args := []string{"-c", line, shell, file}
			if shell == "fish" {
				args = []string{"-c", line, file}
			}
			cmd := exec.CommandContext(t.Context(), path, args...)
			cmd.Env = append(os.Environ(), fmt.Sprintf("PATH=%s:%s", filepath.Dir(program), os.Getenv("PATH")),
				"HOME="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "show" {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
}
