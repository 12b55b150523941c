//go:build unix

package witness

import (
	"fmt"
	"os"
	"syscall"
)

// claim lets one process alone be the witness of a file. The claim ends with the process.
func claim(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the file of the witness: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil { //nolint:gosec // a small number
		_ = f.Close()
		return nil, fmt.Errorf("another process is this witness: %s: %w", path, err)
	}
	return f, nil
}
