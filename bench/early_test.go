package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A measurement that is broken off ends its Postgres and removes all that it has made, by
// a signal as by a reader of its output that has gone.
func TestABenchThatEndsEarlyLeavesNothingBehind(t *testing.T) {
	binary := filepath.Join(openFolder(t), "bench")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, c := range map[string]struct {
		args  []string
		ended func(t *testing.T, folder string, bench *os.Process, out *os.File)
	}{
		"by a signal while pgbench runs": {[]string{"--only", "log"}, func(t *testing.T, folder string, bench *os.Process, _ *os.File) {
			t.Helper()
			within(t, "pgbench has its script", func() bool { return len(found(t, folder, "hostpanel-bench-*.sql")) == 1 })
			for range 2 { // the second one does not end it before it has cleaned up
				if err := bench.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
			}
		}},
		"by a closed pipe": {[]string{"--smoke", "--only", "log"}, func(t *testing.T, _ string, _ *os.Process, out *os.File) {
			t.Helper()
			if _, err := bufio.NewReader(out).ReadString('/'); err != nil {
				t.Fatal(err)
			}
			_ = out.Close()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := openFolder(t)
			cmd := exec.Command(binary, c.args...)
			cmd.Env = append(os.Environ(), "TMPDIR="+folder)
			out, its, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = out.Close() }()
			cmd.Stdout = its
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = its.Close()
			postgres := 0
			within(t, "its Postgres runs", func() bool {
				for _, file := range found(t, folder, "hostpanel-bench-*/*/*/postmaster.pid", "hostpanel-bench-*/*/postmaster.pid") {
					text, _ := os.ReadFile(file)
					first, _, _ := strings.Cut(string(text), "\n")
					postgres, _ = strconv.Atoi(first)
				}
				return postgres != 0
			})
			c.ended(t, folder, cmd.Process, out)
			if err := cmd.Wait(); err == nil {
				t.Error("the measurement says that it was completed")
			}
			if left := found(t, folder, "*"); len(left) > 0 {
				t.Errorf("it has left %q", left)
			}
			if err := syscall.Kill(postgres, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("its Postgres, %d, is still there: %v", postgres, err)
			}
		})
	}
}

// openFolder is a folder that the user of Postgres reaches, too.
func openFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "hostpanel-early-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o711); err != nil {
		t.Fatal(err)
	}
	return folder
}

// within waits until something is so.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not come to pass that %s", what)
		}
	}
}

func found(t *testing.T, folder string, patterns ...string) (all []string) {
	t.Helper()
	for _, p := range patterns {
		files, err := filepath.Glob(filepath.Join(folder, p))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, files...)
	}
	return all
}
