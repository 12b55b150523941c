package domain

// OrNull is nil for the zero value, and else points to the value.
func OrNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// OrZero is the value that p points to; nil: the zero value.
func OrZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
