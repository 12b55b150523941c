package sagas_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// An event that cannot be opened is set aside by its position, and reported. The
// events after it are handled.
func TestAnEventThatCannotBeOpenedStopsNoOther(t *testing.T) {
	t.Parallel()
	w := sagastest.Watched(t)
	w.Opens(1, "ana@example.com", "en")
	w.Opens(2, "bob@example.com", "en")
	_, err := w.Pool.Exec(t.Context(), `update subject_keys set key_id = 'ffffffff' where subject = (select subject
		from users where id = 1)`)
	w.Must(err)
	_, err = w.Store.Execute(
		t.Context(), domain.Metadata{Actor: "user:2"},
		account.NoteReuse{User: 2, Family: uuid.New(), At: w.Runner.Now()},
	)
	w.Must(err)
	position := int64(
		w.Count(`select position::int from events where stream = 'user-1' and data::text like '%sealed:1:%' order by position limit 1`),
	)
	w.Instance = w.Node(w.Pool.Config().ConnString())                                      // which has not opened anything yet
	w.Runner.OnEvent(func(context.Context, eventstore.RecordedEvent) error { return nil }) // to every event
	w.Goes()
	w.Eventually("the second user is warned", func() bool {
		return w.Count(
			`select count(*) from events where name = 'notification.raised' and data ->> 'type' = 'warning' and data ->> 'user' = '2'`,
		) == 1
	})
	w.Eventually(
		"the event is set aside",
		func() bool { return w.Count(`select count(*) from poisoned where position = $1`, position) == 1 },
	)
	reported, _ := sagastest.Reports(w, sagas.ReactionTrouble(eventstore.RecordedEvent{Position: position}))
	w.Equal("incidents", reported, 1)
}

func TestWhoseTokenIsUsedAgainIsWarnedOnce(t *testing.T) { // W-7
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Opens(1, "ana@example.com", "es-MX")
	w.Opens(2, "bob@example.com", "fr")
	for _, user := range []int64{1, 2, 0} { // 0: no user is known
		_, err := w.Store.Execute(
			t.Context(), domain.Metadata{Actor: "user:1"},
			account.NoteReuse{User: user, Family: uuid.New(), At: w.Runner.Now()},
		)
		w.Must(err)
	}
	told := func(user int64, title string) int {
		return w.Count(`select count(*) from events where name = 'notification.raised' and data ->> 'type' = 'warning'
			and data ->> 'user' = $1 and data ->> 'title' = $2`, fmt.Sprint(user), title)
	}
	w.Eventually("both are warned", func() bool {
		return told(1, "Se ha cerrado una sesión")+told(2, "You have been signed out") == 2
	})
	all, err := w.Store.Reader().After(t.Context(), 0, 1000)
	w.Must(err)
	for _, r := range all {
		w.Must(w.Runner.Reactions.React(t.Context(), r))
	}
	w.Equal("warnings", w.Count(`select count(*) from events where name = 'notification.raised'`), 2)
}
