package route_test

import (
	"context"
	"net/url"
	"slices"
	"testing"
	"time"

	"hostpanel/http/route"
)

func TestSearchTerms(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "a b,c": {"a", "b", "c"}, `"New York", x`: {"New York", "x"}, `a "b`: {"a", "b"}, ` ,"" `: nil,
	} {
		got, err := route.Call{Query: url.Values{"search": {text}}}.Search()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
	if _, err := (route.Call{Query: url.Values{"search": {"a\x00"}}}).Search(); err == nil ||
		err.Error() != "Null characters are not allowed." {
		t.Error(err)
	}
}

func TestOrderingDropsUnknownNames(t *testing.T) {
	got := route.Call{Query: url.Values{"ordering": {"x,domain, -id,--id"}}}.Ordering("domain")
	if !slices.Equal(got, []route.Order{{Field: "domain"}, {Field: "id", Descending: true}}) {
		t.Error(got)
	}
}

func TestEveryCallHasADeadline(t *testing.T) {
	table := route.Mount(route.Options{Timeout: time.Millisecond}, route.Area{Access: route.Open, Routes: []route.Route{
		route.Get("/a/", "a", func(ctx context.Context, _ route.Call) (*site, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
	}})
	expect(t, call(table, "GET", "/a/", ""), 503, `"code":"unavailable"`)
}
