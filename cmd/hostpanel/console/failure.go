package console

import (
	"errors"
	"fmt"

	"github.com/alecthomas/kong"
)

// How a command ends.
const (
	Done   = 0
	Failed = 1
	Usage  = 2
)

// A misuse is a mistake in how the program was called or configured.
type misuse struct{ err error }

func (m misuse) Error() string { return m.err.Error() }
func (m misuse) Unwrap() error { return m.err }

// Misused is a mistake in how the program was called or configured. The exit code is Usage.
func Misused(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

// Complain says what went wrong and answers with the exit code.
func (c Console) Complain(err error) int {
	var parse *kong.ParseError
	var mistake misuse
	if errors.Is(err, ErrReported) {
		return Failed
	}
	fmt.Fprintln(c.Err, "hostpanel:", err)
	if errors.As(err, &parse) || errors.As(err, &mistake) {
		fmt.Fprintln(c.Err, `Run "hostpanel --help" to see what it understands.`)
		return Usage
	}
	return Failed
}

// ErrReported ends a command in failure whose output has told the reason.
var ErrReported = errors.New("told already")
