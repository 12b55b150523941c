package console

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// A desk is a terminal with its user.
type desk struct {
	Console
	person *os.File
	shown  *screen
}

// newDesk opens a pseudo-terminal.
func newDesk(t *testing.T) desk {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var number, unlock int32
	for request, at := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlock} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(at))); errno != 0 {
			t.Fatal(errno)
		}
	}
	end, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	shown := &screen{}
	go func() { _, _ = io.Copy(shown, person) }()
	t.Cleanup(func() { _, _ = end.Close(), person.Close() })
	return desk{Console{Out: end, Err: end, In: end}, person, shown}
}

// A screen may be read while it is written.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("still not: %s", what)
			return
		}
	}
}

// types waits for a question and answers it.
func (d desk) types(t *testing.T, question, text string) {
	waitFor(t, "the question "+question, func() bool { return strings.Contains(d.shown.String(), question) })
	if _, err := d.person.WriteString(text + "\n"); err != nil {
		t.Error(err)
	}
}

// whispers is types once nothing shows that is typed.
func (d desk) whispers(t *testing.T, question, text string) {
	waitFor(t, "the terminal is quiet for "+question, func() bool {
		var state syscall.Termios
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, d.In.(*os.File).Fd(), syscall.TCGETS,
			uintptr(unsafe.Pointer(&state)))
		return errno == 0 && state.Lflag&syscall.ECHO == 0 && strings.Contains(d.shown.String(), question)
	})
	d.types(t, question, text)
}

func TestAPasswordIsAskedForTwiceAndNotShown(t *testing.T) {
	for second, want := range map[string]string{"correct horse": "", "correct house": "the two passwords differ"} {
		d := newDesk(t)
		go func() {
			d.whispers(t, "Password: ", "correct horse")
			d.whispers(t, "Once more: ", second)
		}()
		got, err := PasswordInput{}.Read(t.Context(), d.Console, func(string) error { return nil })
		if fmt.Sprint(err) != cmp.Or(want, "<nil>") || err == nil && got != "correct horse" {
			t.Errorf("%q, %v", got, err)
		}
		if strings.Contains(d.shown.String(), "horse") || strings.Contains(d.shown.String(), "house") {
			t.Errorf("the password shows: %q", d.shown.String())
		}
	}
}

func TestWhoIsAskedMayAlsoGoAway(t *testing.T) {
	d := newDesk(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.hidden(ctx, "Password: "); err == nil || !strings.Contains(err.Error(), "nothing was done") {
		t.Error(err)
	}
}

func TestWhatCannotBeUndoneIsConfirmed(t *testing.T) {
	for typed, agrees := range map[string]bool{"ana@example.com": true, "Ana@Example.com": true, "yes": false, "": false} {
		d := newDesk(t)
		go d.types(t, "again to go on: ", typed)
		if err := d.Confirm(t.Context(), "ana@example.com"); (err == nil) != agrees {
			t.Errorf("%q: %v", typed, err)
		}
	}
}
