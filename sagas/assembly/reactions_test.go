package assembly

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
)

func TestWhoseTokenIsUsedAgainIsWarnedOnce(t *testing.T) { // W-7
	w := newWorld(t).goes()
	w.opens(1, "ana@example.com", "es-MX")
	w.opens(2, "bob@example.com", "fr")
	for _, user := range []int64{1, 2, 0} { // 0: no user is known
		_, err := w.store.Execute(t.Context(), domain.Metadata{Actor: "user:1"}, account.NoteReuse{User: user, Family: uuid.New(), At: w.Now()})
		w.must(err)
	}
	told := func(user int64, title string) int {
		return w.count(`select count(*) from events where name = 'notification.raised' and data ->> 'type' = 'warning'
			and data ->> 'user' = $1 and data ->> 'title' = $2`, fmt.Sprint(user), title)
	}
	w.eventually("both are warned", func() bool {
		return told(1, "Se ha cerrado una sesión")+told(2, "You have been signed out") == 2
	})
	all, err := w.store.After(t.Context(), 0, 1000)
	w.must(err)
	for _, r := range all {
		w.must(w.React(t.Context(), r))
	}
	w.equal("warnings", w.count(`select count(*) from events where name = 'notification.raised'`), 2)
}
