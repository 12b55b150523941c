package sagastest

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas/assembly"
)

// Watched is a world with two operators, who are users 901 and 902.
func Watched(t *testing.T, change ...func(*assembly.Options)) *World {
	t.Helper()
	w := NewWorld(t, change...)
	for user, language := range map[int64]string{901: "es-MX", 902: "en"} {
		c := w.Someone(user, fmt.Sprintf("operator%d@example.com", user), language)
		c.Superuser = true
		w.Must(w.Accounts.Open(t.Context(), domain.Metadata{Actor: "operator:1"}, c, GoodPassword))
	}
	return w
}

// Owner connects as the owner of the database, who may change everything.
func (w *World) Owner() *pgxpool.Pool { return eventstoretest.Owner(w.T, w.Pool.Config().ConnString()) }

// Reports counts the reports and settlements of an incident.
func Reports(w *World, t operations.Trouble) (reported, settled int) {
	w.T.Helper()
	stream := operations.IncidentStream(t.ID())
	return w.Often(stream, "operations.incident_reported"), w.Often(stream, "operations.incident_settled")
}

// Ends looks after what is over, and waits for a trouble to be settled so often.
func Ends(w *World, t operations.Trouble, times int) {
	w.T.Helper()
	w.Eventually(t.Kind+" is settled", func() bool {
		w.Must(w.Operations.ReviewIncidents(w.T.Context()))
		_, settled := Reports(w, t)
		return settled >= times
	})
	_, settled := Reports(w, t)
	w.Equal("settled", settled, times)
}
