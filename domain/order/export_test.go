package order

import "slices"

// MayMove tells whether an order may move on from one status to another.
func MayMove(from, to Status) bool { return slices.Contains(next[from], to) }
