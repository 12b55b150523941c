package web

import (
	"maps"
	"net/url"
	"strconv"
	"strings"

	"hostpanel/http/route"
)

// An Aspect is one thing to know about something. At is the moment, for programs, and Path
// the page that tells more.
type Aspect struct{ Name, Text, At, Path string }

// Told leaves out what is not known.
func Told(all ...Aspect) (known []Aspect) {
	for _, one := range all {
		if one.Text != "" {
			known = append(known, one)
		}
	}
	return known
}

// PageSize is how many rows a page of a list has.
const PageSize = 25

// PageNumber is the page of a list that is asked for; the first, if it makes no sense.
func PageNumber(c route.Call) int64 {
	const last = 1_000_000
	number, err := strconv.ParseInt(c.Param("page"), 10, 64)
	if err != nil || number < 1 || number > last {
		return 1
	}
	return number
}

// neighbours are where the pages before and after one of a list are.
func neighbours(c route.Call, number, count int64) (newer, older string) {
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
	if number*PageSize < count {
		older = at(number + 1)
	}
	return newer, older
}

// A Bar is what stands above a list: a search, if the list has one, and filters.
type Bar struct {
	Action, Search, SearchLabel string
	Filters                     []Filter
}

// A Filter is a choice that narrows a list.
type Filter struct {
	Name, Label, Value string
	Options            []Option
}

// Searched are the words that the list is searched for.
func (b *Bar) Searched(c route.Call, label string) []string {
	b.Search, b.SearchLabel = c.Param("search"), label
	return strings.Fields(b.Search)
}

// Paged is what a page of a list shows besides its rows: the bar, how many there are, and
// the ways to the pages before and after.
func Paged(c route.Call, b *Bar, count int64, data map[string]any) map[string]any {
	data["Bar"], data["Count"], data["Wide"] = b, count, true
	data["Newer"], data["Older"] = neighbours(c, PageNumber(c), count)
	return data
}
