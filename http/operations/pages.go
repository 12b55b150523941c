package operations

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// PageRoutes are where superusers run the storefront (docs/accounts.md, "Pages").
func PageRoutes(d Deps) route.Area {
	s := &apiKeys{d}
	keys, bought := s.keysDesk(), &orders{d}
	return route.Area{
		Name: "Storefront pages", Access: d.SuperuserSession(),
		About: "Where superusers run the storefront.",
		Routes: slices.Concat([]route.Route{
			web.View(web.StorefrontPath, "What happens today, and what needs a person", (&reports{d}).showStart).As("storefront_page"),
			web.View(web.KeysPath, "The keys of the storefront", keys.Look).As("keys_page").
				Taking(field.Int("page", new(int64)).Doc("Which page of the keys, from 1 on.")),
			s.Press(web.KeysPath, "Create or revoke a key", keys).As("keys_form"),
		},
			bought.pageRoutes(),
			(&catalog{d}).planPageRoutes(),
			(&catalog{d}).widgetPageRoutes(),
			(&incidents{d}).pageRoutes(),
			(&runs{d}).pageRoutes(),
			(&inbox{d}).pageRoutes(),
			(&reports{d}).pageRoutes(),
			(&guide{s}).pageRoutes(),
		),
	}
}

// An aspect is one thing to know about something. At is the moment, for programs; Path
// is where it is shown.
type aspect struct{ Name, Text, At, Path string }

// pageNumber is the page of a list that is asked for; the first, if it makes
// no sense.
func pageNumber(c route.Call) int64 {
	const last = 1_000_000
	number, err := strconv.ParseInt(c.Param("page"), 10, 64)
	if err != nil || number < 1 || number > last {
		return 1
	}
	return number
}

// neighbours are where the pages before and after one of a list are, with the filters
// of this one; "": there is none.
func neighbours(c route.Call, number, size, count int64) (newer, older string) {
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

func moment(name string, at *time.Time, otherwise string) aspect {
	if at == nil {
		return aspect{Name: name, Text: otherwise}
	}
	return aspect{Name: name, Text: at.UTC().Format("2006-01-02 15:04 UTC"), At: at.UTC().Format(time.RFC3339)}
}

// once is the call that a form with this number makes: however often it is sent, it is
// carried out once.
func (d Deps) once(c route.Call, number string) route.Call {
	return c.Once(&domain.IdempotencyKey{
		Principal: c.Caller.Principal, Method: c.Method, Path: c.Path, Key: number,
		Fingerprints: d.Once.Fingerprints([]byte(c.Path), []byte(number)), Status: http.StatusOK, Keep: domain.KeepDay,
	})
}

func isRepeated(err error) bool {
	var refusal *domain.Error
	return errors.As(err, &refusal) && refusal.Reason == "idempotency_in_progress"
}
