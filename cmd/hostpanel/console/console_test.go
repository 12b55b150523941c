package console

import (
	"bytes"
	"testing"
)

func TestWhatOthersWroteCannotMoveTheCursor(t *testing.T) {
	var b bytes.Buffer
	tab := Table{Head: []string{"name", "n"}}
	tab.Add(Plain("Ana\x1b[2J\nBo\u009b"), Number(7))
	tab.Print(Console{Out: &b})
	if bytes.Count(b.Bytes(), []byte("\n")) != 2 || bytes.Contains(b.Bytes(), []byte("\x1b")) ||
		bytes.Contains(b.Bytes(), []byte("\u009b")) {
		t.Errorf("%q", b.String())
	}
}
