package route_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/route"
)

type word struct{ Text string }

func (w *word) Fields() field.Set { return field.Set{field.Text("text", &w.Text)} }

// recalled serves calls whose callers are remembered, until they have to be
// looked up: then they are refused. settle tells what became of the memory.
func recalled(settle func() (route.Limit, bool)) http.Handler {
	access := route.Access{
		Rule: "recalled",
		Identify: func(_ context.Context, r route.Request) (route.Caller, error) {
			if r.Fresh {
				return route.Caller{}, route.NoKey
			}
			return route.Caller{Principal: "user:1", Settle: func(context.Context) (route.Limit, bool) { return settle() }}, nil
		},
	}
	find := func(_ context.Context, c route.Call) (any, string, error) {
		switch c.ID("id") {
		case 1:
			return &word{"seen"}, "word-1-1", nil
		case 2:
			panic("this word is not known")
		case 3:
			return nil, "", errors.New("a fault")
		}
		return nil, "", route.Missing("Word")
	}
	show := func(_ context.Context, c route.Call) (*word, error) {
		c.Set("X-Seen", "yes")
		c.ETag("word-1-1")
		w, _ := c.Subject.(*word)
		return w, nil
	}
	file := func(context.Context, route.Call) (*route.Document, error) {
		return &route.Document{Type: "text/plain", Body: []byte("seen")}, nil
	}
	return route.Mount(route.Options{Log: slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil))}, route.Area{
		Name: "Words", Access: access, Routes: []route.Route{
			route.Get("/words/{id:int}/", "A word", show).As("word_read").Of("Word").Finding(find),
			route.File("/file", "A file", file).As("file_read"),
		},
	})
}

var ofWords = []struct {
	method, path string
	status       int
}{
	{"GET", "/words/1/", 200},
	{"HEAD", "/words/1/", 200},
	{"GET", "/words/2/", 500},
	{"GET", "/words/3/", 500},
	{"GET", "/words/4/", 404},
	{"DELETE", "/words/1/", 405},
	{"GET", "/file", 200},
}

func TestNothingIsSentToAnUnknownCaller(t *testing.T) {
	words := recalled(func() (route.Limit, bool) { return route.Limit{}, false })
	for _, c := range ofWords {
		w := httptest.NewRecorder()
		words.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		h := w.Header()
		if w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "seen") || h.Get("X-Seen")+
			h.Get("ETag") != "" || h.Get("X-Request-Id") == "" {
			t.Errorf("%s %s: %d %s %v", c.method, c.path, w.Code, w.Body, h)
		}
	}
}

func TestWhoIsConfirmedHearsTheAnswerAndWhatIsLeft(t *testing.T) {
	asked := 0
	words := recalled(func() (route.Limit, bool) {
		asked++
		return route.Limit{Name: "user", Quota: domain.Quota{Allowed: true, Limit: 9, Remaining: 8, Window: time.Minute}}, true
	})
	for i, c := range ofWords {
		w := httptest.NewRecorder()
		words.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if w.Code != c.status || w.Header().Get("X-RateLimit-Remaining") != "8" || asked != i+1 {
			t.Errorf("%s %s: %d %s %v, asked %d times", c.method, c.path, w.Code, w.Body, w.Header(), asked)
		}
	}
}

func TestWhoHasNoCallsLeftHearsNothingElse(t *testing.T) {
	words := recalled(func() (route.Limit, bool) {
		return route.Limit{Name: "user", Quota: domain.Quota{Limit: 9, Window: time.Minute, Wait: time.Second}}, true
	})
	for _, c := range ofWords {
		w := httptest.NewRecorder()
		words.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" || strings.Contains(w.Body.String(), "seen") {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
	}
}
