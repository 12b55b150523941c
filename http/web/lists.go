package web

import (
	"maps"
	"net/url"
	"strconv"
	"time"

	"hostpanel/http/route"
)

// An Aspect is one thing to know about something. At is the moment, for programs, and Path
// the page that tells more.
type Aspect struct{ Name, Text, At, Path string }

// Moment is a time, or what stands in its place.
func Moment(name string, at *time.Time, otherwise string) Aspect {
	if at == nil {
		return Aspect{Name: name, Text: otherwise}
	}
	return Aspect{Name: name, Text: at.UTC().Format("2006-01-02 15:04 UTC"), At: at.UTC().Format(time.RFC3339)}
}

// PageNumber is the page of a list that is asked for; the first, if it makes no sense.
func PageNumber(c route.Call) int64 {
	const last = 1_000_000
	number, err := strconv.ParseInt(c.Param("page"), 10, 64)
	if err != nil || number < 1 || number > last {
		return 1
	}
	return number
}

// Neighbours are where the pages before and after one of a list are.
func Neighbours(c route.Call, number, size, count int64) (newer, older string) {
	at := func(number int64) string {
		query := maps.Clone(c.Query)
		if query == nil {
			query = url.Values{}
		}
		query.Set("page", strconv.FormatInt(number, 10))
		return c.Path + "?" + query.Encode()
	}
	if number > 1 {
		newer = at(number - 1)
	}
	if number*size < count {
		older = at(number + 1)
	}
	return newer, older
}
