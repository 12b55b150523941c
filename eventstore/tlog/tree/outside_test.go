package tree_test

import (
	"errors"
	"testing"

	"hostpanel/eventstore/tlog/tree"
)

// asked checks what both witnesses answer. Nil: the log has all that they have cosigned.
func (l *witnessedLog) asked(what string, one, two error) {
	l.t.Helper()
	answers, err := l.Ask(l.t.Context())
	if err != nil || len(answers) != 2 || answers[0].Witness != "one" {
		l.t.Fatalf("%s: %+v, %v", what, answers, err)
	}
	for i, want := range []error{one, two} {
		if got := answers[i].Err; !errors.Is(got, want) || (got == nil) != (want == nil) || answers[i].Denied() != (want != nil) {
			l.t.Errorf("%s: %s answers %v, want %v", what, answers[i].Witness, got, want)
		}
	}
}

// forgets makes the log end at a position, with a tree and a checkpoint that fit it: as
// a database does that comes from an older backup.
func (l *witnessedLog) forgets(after int64) {
	l.t.Helper()
	l.sql(`alter table events disable trigger user`)
	l.sql(`delete from events where position > $1`, after)
	l.sql(`update log_origins set size = 0, checkpoint = '', published = '', published_size = 0`)
	l.sql(`truncate log_tiles, log_witnesses`)
	l.seals(l.Sealer)
}

// A log that comes from an older backup fits itself. What is known outside does not fit it.
func TestALogIsHeldAgainstWhatIsKnownOutside(t *testing.T) {
	t.Parallel()
	l := newWitnessedLog(t, 300)
	l.asked("before anything is cosigned", nil, nil)
	older := l.grows(100).Checkpoint
	newest := l.grows(300).Checkpoint
	holds := func(what, checkpoint string, want error) {
		t.Helper()
		if err := l.Holds(t.Context(), checkpoint); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	l.asked("as it was", nil, nil)
	l.sql(`truncate log_witnesses`)
	l.asked("without the table", nil, nil)
	holds("the newest", newest, nil)
	holds("an older one", older, nil)
	stranger := newWitnessedLog(t, 10)
	holds("that of another log", stranger.grows(5).Checkpoint, tree.ErrForeign)

	l.two.away.Store(true)
	answers, err := l.Ask(t.Context())
	if err != nil || answers[0].Err != nil || answers[0].Silent() || !answers[1].Silent() || answers[1].Denied() {
		t.Errorf("one is away: %+v, %v", answers, err)
	}
	l.two.away.Store(false)

	l.forgets(400)
	l.asked("the end is missing", tree.ErrShorter, tree.ErrShorter)
	holds("the newest, and the end is missing", newest, tree.ErrShorter)
	holds("what is left", older, nil)

	l.add(300) // the same events come back, unsealed
	holds("what is not sealed yet", newest, nil)
	l.sql(`update events set hash = sha256('another') where position = 500`)
	holds("another event that is not sealed yet", newest, tree.ErrUnlike)
	l.seals(l.Sealer)
	l.asked("as long, and another one", tree.ErrUnlike, tree.ErrUnlike)
	holds("another event", newest, tree.ErrUnlike)
	l.add(1)
	l.seals(l.Sealer)
	l.asked("longer, and another one", tree.ErrUnlike, tree.ErrUnlike)

	if _, err := l.BeginAnew(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	holds("the former origin", newest, tree.ErrFormer)
	l.seals(l.Sealer)
	answers, err = l.Ask(t.Context())
	if err != nil || answers[0].Err == nil || answers[0].Silent() || answers[0].Denied() {
		t.Errorf("a new origin: %+v, %v", answers, err)
	}
}
