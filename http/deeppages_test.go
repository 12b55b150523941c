package http_test

// A listPage is a page of a list, as far as links are concerned.
type listPage struct {
	Count          int
	Next, Previous string
	Results        []struct{ ID string }
}
