package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A PasswordInput is where a command takes a password from: never from its
// arguments, which every process of the machine can read.
type PasswordInput struct {
	PasswordStdin bool `xor:"password" help:"Take the password from the first line of standard input."`
}

// Read takes a password that passes the check. The user types it twice, and is
// told of mistakes after the first time.
func (p PasswordInput) Read(ctx context.Context, c Console, check func(string) error) (string, error) {
	if p.PasswordStdin {
		password, err := c.line()
		if err == nil {
			err = check(password)
		}
		return password, err
	}
	password, err := c.hidden(ctx, "Password: ")
	if err == nil {
		err = check(password)
	}
	if err != nil {
		return "", err
	}
	again, err := c.hidden(ctx, "Once more: ")
	if err == nil && again != password {
		err = errors.New("the two passwords differ")
	}
	return password, err
}

// lineMax bounds what is read where one line is expected.
const lineMax = 4096 // bytes

// line reads the first line of standard input, as it is.
func (c Console) line() (string, error) {
	text, err := bufio.NewReader(io.LimitReader(c.In, lineMax)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return strings.TrimRight(text, "\r\n"), nil
}

// hidden asks for something that does not show while it is typed.
func (c Console) hidden(ctx context.Context, question string) (string, error) {
	if !terminal(c.In) {
		return "", Misused("there is no terminal to ask at: use --password-stdin")
	}
	keyboard := int(c.In.(*os.File).Fd())
	before, err := term.GetState(keyboard)
	if err != nil {
		return "", fmt.Errorf("read the terminal: %w", err)
	}
	defer func() { _ = term.Restore(keyboard, before) }() // also when we are interrupted
	fmt.Fprint(c.Err, question)
	defer fmt.Fprintln(c.Err)
	return unlessInterrupted(ctx, func() (string, error) {
		typed, err := term.ReadPassword(keyboard)
		return string(typed), err
	})
}

// Confirm asks for the same text again, before something that cannot be
// undone.
func (c Console) Confirm(ctx context.Context, text string) error {
	if !terminal(c.In) {
		return Misused("there is no terminal to ask at: use --yes if you mean it")
	}
	fmt.Fprintf(c.Err, "This cannot be undone. Type %s again to go on: ", OneLine(text))
	typed, err := unlessInterrupted(ctx, c.line)
	if err != nil {
		return err
	}
	if !strings.EqualFold(strings.TrimSpace(typed), text) {
		return errors.New("not the same: nothing was done")
	}
	return nil
}

// unlessInterrupted stops to wait for input when the program is told to end.
// What reads then ends with the program.
func unlessInterrupted(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	typed := make(chan answer, 1)
	go func() {
		text, err := read()
		typed <- answer{text, err}
	}()
	select {
	case a := <-typed:
		return a.text, a.err
	case <-ctx.Done():
		return "", errors.New("interrupted: nothing was done")
	}
}
