//go:build system

package erasures_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/eventstore/erasures"
)

// A process keeps its files by itself: of erasures by others too.
func TestAProcessKeepsItsFilesComplete(t *testing.T) {
	t.Parallel()
	l := newPanelLog(t)
	l.seals()
	first := l.erases()
	b := l.book("kept")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	grown := make(chan struct{})
	close(grown)
	var subjects []uuid.UUID
	b.Run(ctx, func() <-chan struct{} { return grown }, func(_ context.Context, of []erasures.Outcome, err error) {
		if err != nil || len(of) != 1 || of[0].Err != nil {
			t.Error(of, err)
		}
		if subjects == nil {
			l.has("kept", first)
			subjects = []uuid.UUID{first, l.erases()}
			return
		}
		l.has("kept", subjects...)
		cancel()
	})
	if len(subjects) != 2 {
		t.Error("the second erasure is not in the file")
	}
}
