//go:build !rlsonly

package projections

// narrowed leaves a condition to the query. Under the build tag rlsonly it is
// left to the database alone, which must come to the same.
func narrowed(w *where) *where { return w }
