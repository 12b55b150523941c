package hosting_test

import (
	"hostpanel/sagas/sagastest"
)

// loses the work rows, and has them rebuilt.
func loses(w *sagastest.World) {
	w.T.Helper()
	_, err := w.Pool.Exec(w.T.Context(), `delete from saga_run`)
	w.Must(err)
	_, err = w.Runner.Operators.RebuildRuns(w.T.Context(), sagastest.Operator, "the rows were lost")
	w.Must(err)
}
