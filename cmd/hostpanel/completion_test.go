package main

import (
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
)

func TestTheProgramTellsWhatCanFollow(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"|ord", "orders"},
		{"|com", "compute\ncompletion"}, // not the hidden command
		{"|orders|s", "show"},
		{"|orders|list|--stat", "--status"},
		{"|orders|--data-dir|/tmp|sh", "show"},
		{"|orders|--data-dir|s", ""}, // a folder belongs there
		{"|serve|--dem", "--demo"},
		{"|completion|", "bash\nzsh\nfish"},
		{"|serve|--secret", ""},
		{"|nothing|", ""},
	} {
		args := append([]string{"complete", "--"}, strings.Split(c.words, "|")[1:]...)
		code, out, complaint := told(t, args...)
		if got := strings.TrimSpace(out); code != console.Done || complaint != "" || got != c.want {
			t.Errorf("%q ends with %d: %q instead of %q, %s", c.words, code, got, c.want, complaint)
		}
	}
}
