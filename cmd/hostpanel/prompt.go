package main

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

// A passwordInput is where a command takes a password from: never from its
// arguments, which every process of the machine can read.
type passwordInput struct {
	PasswordStdin bool `xor:"password" help:"Take the password from the first line of standard input."`
}

// read takes a password that passes the check. The user types it twice, and is
// told of mistakes after the first time.
func (p passwordInput) read(ctx context.Context, c console, check func(string) error) (string, error) {
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
func (c console) line() (string, error) {
	text, err := bufio.NewReader(io.LimitReader(c.in, lineMax)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return strings.TrimRight(text, "\r\n"), nil
}

// hidden asks for something that does not show while it is typed.
func (c console) hidden(ctx context.Context, question string) (string, error) {
	if !terminal(c.in) {
		return "", misused("there is no terminal to ask at: use --password-stdin")
	}
	keyboard := int(c.in.(*os.File).Fd())
	before, err := term.GetState(keyboard)
	if err != nil {
		return "", fmt.Errorf("read the terminal: %w", err)
	}
	defer func() { _ = term.Restore(keyboard, before) }() // also when we are interrupted
	fmt.Fprint(c.err, question)
	defer fmt.Fprintln(c.err)
	return unlessInterrupted(ctx, func() (string, error) {
		typed, err := term.ReadPassword(keyboard)
		return string(typed), err
	})
}

// confirmed asks for the same text again, before something that cannot be
// undone.
func (c console) confirmed(ctx context.Context, text string) error {
	if !terminal(c.in) {
		return misused("there is no terminal to ask at: use --yes if you mean it")
	}
	fmt.Fprintf(c.err, "This cannot be undone. Type %s again to go on: ", oneLine(text))
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
