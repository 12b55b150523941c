//go:build system

package processtest

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// Binary is the real program, built once, by the first test that needs it.
var Binary = sync.OnceValues(func() (string, error) { return build("hostpanel") })

// server is the program that goes on in the background. With the race detector it has that as
// well. Commands would begin and end a second later each, and their packages have it.
var server = sync.OnceValues(func() (string, error) {
	if raceDetector {
		return build("hostpanel-race", "-race")
	}
	return Binary()
})

// build builds into a folder of the user's cache, one for each clone. Go links nothing anew
// that is up to date there, so all packages and runs share one file. A run has links of its
// own: a later build makes another file.
func build(name string, args ...string) (string, error) {
	kept, path := filepath.Join(filepath.Dir(binaries), name), filepath.Join(binaries, name)
	lock, err := os.Create(kept + ".lock")
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	args = append(append([]string{"build", "-o", kept}, args...), "hostpanel/cmd/hostpanel")
	if out, err := exec.CommandContext(context.Background(), "go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, os.Link(kept, path)
}

// ownFolder makes a folder for the files of this run, in that of the clone.
func ownFolder() (string, error) {
	clone, err := filepath.Abs("../..") // tests run in tests/<name>
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "hostpanel-tests", url.PathEscape(clone))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(folder, "run-")
}

var binaries string // folder

// Main is what TestMain of a package that starts the program does. It lets four stories run
// at once, also on two cores: most of the time a story waits for programs that start, or for
// a lease to end. What the tests share is closed afterwards.
func Main(m *testing.M, shared ...func()) {
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = flag.Set("test.parallel", "4")
	}
	var err error
	if binaries, err = ownFolder(); err != nil {
		panic(err)
	}
	code := m.Run()
	for _, closes := range append(shared, func() { _ = os.RemoveAll(binaries) }) {
		closes()
	}
	os.Exit(code)
}
