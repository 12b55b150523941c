package console

import "time"

// Each converts every element of a list.
func Each[A, B any](all []A, as func(A) B) []B {
	out := make([]B, len(all))
	for i, a := range all {
		out[i] = as(a)
	}
	return out
}

// ParseTime reads a time as a flag gives it; an empty text is the zero time.
func ParseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05",
		"2006-01-02 15:04", "2006-01-02",
	} {
		if at, err := time.ParseInLocation(layout, text, time.UTC); err == nil {
			return at, nil
		}
	}
	return time.Time{}, Misused("%q is not a time such as 2026-11-21T14:30:00Z", text)
}
