//go:build !unix

package witness

import (
	"errors"
	"os"
)

// claim refuses: two processes could be the witness of one file.
func claim(string) (*os.File, error) {
	return nil, errors.New("a witness needs a system with file locks, such as Linux")
}
