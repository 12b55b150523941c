package hosting_test

import (
	"hostpanel/domain/hosting"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// resourceOf is the hosting resource that a run works for.
func resourceOf(r sagas.Run) hosting.Generation {
	in, _ := sagas.InputOf[hosting.Generation](r) // of other runs it is none
	return in
}

// loses the work rows, and has them rebuilt.
func loses(w *sagastest.World) {
	w.T.Helper()
	_, err := w.Pool.Exec(w.T.Context(), `delete from saga_run`)
	w.Must(err)
	_, err = w.RebuildRuns(w.T.Context(), sagastest.Operator, "the rows were lost")
	w.Must(err)
}
