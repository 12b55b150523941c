package route

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"

	"hostpanel/domain/field"
)

// A Window is the part of a list that a call asks for. A list need not heed more
// than Offset and Limit; the rest spares it to count off the records before a page.
type Window struct {
	Offset, Limit int64
	Last          bool   // the last page is asked for: Offset is that of the first
	After, Before string // the record beside which the page begins; blank: not known
}

// A Page is a part of a list.
type Page[T any] struct {
	Count   int64 // of the whole list, after its filters
	Results []T
	Last    bool           // it is the last page, as the window asks
	Mark    func(T) string // names a record for [Window.After]; nil: the list does not heed it
}

const (
	pageSize    = 20
	pageSizeMax = 100
	pageLast    = -1
	farOff      = 1000 // records before a page, from which on links name the record beside it
)

type listed[A any, PA record[A]] []A

func array[A any, PA record[A]](all []A) Answer { return listed[A, PA](all) }

func (l listed[A, PA]) AppendJSON(b []byte) []byte { return field.AppendList[A, PA](b, l) }
func (l listed[A, PA]) AppendKept(b []byte) []byte { return l.AppendJSON(b) }

var invalidPage = &Refusal{Status: http.StatusNotFound, Detail: "Invalid page.", Slug: "invalid_page"}

// paged shows the page that the call asks for. Which one the last is, only the list
// knows: where it cannot be read from its end, that page is asked for twice.
func paged[A any, PA record[A]](ctx context.Context, c Call, list func(context.Context, Call, Window) (Page[A], error)) (Answer, error) {
	size := c.pageSize()
	number, err := c.pageNumber()
	if err != nil { // a wrong filter is told first
		_, wrong := list(ctx, c, Window{Limit: size})
		return nil, cmp.Or(wrong, err)
	}
	asked := max(number, 1)
	w := Window{Offset: (asked - 1) * size, Limit: size, Last: number == pageLast, After: c.Param("after"), Before: c.Param("before")}
	page, err := list(ctx, c, w)
	if err != nil {
		return nil, err
	}
	last := max((page.Count+size-1)/size, 1)
	if w.Last {
		asked = last
		if !page.Last && last > 1 {
			if page, err = list(ctx, c, Window{Offset: (asked - 1) * size, Limit: size}); err != nil {
				return nil, err
			}
		}
	}
	if asked > last {
		return nil, invalidPage
	}
	next := c.pageLink(asked+1, last, "after", page.beside(c, asked+1, len(page.Results)-1))
	previous := c.pageLink(asked-1, last, "before", page.beside(c, asked-1, 0))
	return envelope{page.Count, next, previous, array[A, PA](page.Results)}, nil
}

// beside names a record of the page for the link to another one; blank: that is not
// far enough from the beginning.
func (p Page[T]) beside(c Call, number int64, i int) string {
	if p.Mark == nil || len(p.Results) == 0 || (number-1)*c.pageSize() < farOff {
		return ""
	}
	return p.Mark(p.Results[i])
}

func (c Call) pageNumber() (int64, error) {
	const most = 1 << 40 // no list is longer; keeps offsets far from overflow
	switch s := c.Param("page"); s {
	case "":
		return 1, nil
	case "last":
		return pageLast, nil
	default:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 || n > most {
			return 0, invalidPage
		}
		return n, nil
	}
}

func (c Call) pageSize() int64 {
	n, err := strconv.ParseInt(c.Param("page_size"), 10, 64)
	switch {
	case n > pageSizeMax: // also when it does not fit into an int64
		return pageSizeMax
	case err != nil, n < 1:
		return pageSize
	}
	return n
}

// pageLink is the URL of another page, beside a record if one is named: all other
// parameters as they are, sorted; page 1 has no parameter.
func (c Call) pageLink(number, last int64, side, mark string) string {
	if number < 1 || number > last {
		return ""
	}
	query := url.Values{}
	for name, values := range c.Query {
		query[name] = values
	}
	for _, own := range []string{"page", "after", "before"} {
		query.Del(own)
	}
	if number > 1 {
		query.Set("page", strconv.FormatInt(number, 10))
	}
	if mark != "" {
		query.Set(side, mark)
	}
	link := c.URL((&url.URL{Path: c.Path}).EscapedPath())
	if len(query) > 0 {
		link += "?" + query.Encode()
	}
	return link
}

// An envelope is a page with its links.
type envelope struct {
	count          int64
	next, previous string
	results        Answer
}

func (e envelope) AppendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"count":`...), e.count, 10)
	b = appendLink(append(b, `,"next":`...), e.next)
	b = appendLink(append(b, `,"previous":`...), e.previous)
	return append(e.results.AppendJSON(append(b, `,"results":`...)), '}')
}

func (e envelope) AppendKept(b []byte) []byte { return e.AppendJSON(b) }

func appendLink(b []byte, link string) []byte {
	if link == "" {
		return append(b, "null"...)
	}
	return field.AppendText(b, link)
}
