package projections

// A Listing is what somebody asks of a list: which rows, in which order, and
// how many of them.
type Listing struct {
	Search        []string // every term has to be found somewhere
	Order         []Ordering
	Filters       []Filter
	Offset, Limit int64
}

// An Ordering is one criterion by which a list is sorted.
type Ordering struct {
	Field      string
	Descending bool
}

// A Filter leaves the rows whose field compares so with the value.
type Filter struct {
	Field, Op string // =, >=, <=, >, <, in
	Value     any
}

// Listed is a part of a list, and how many rows the whole has.
type Listed[T any] struct {
	Count int64
	Rows  []T
}
