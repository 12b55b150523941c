package route_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/http/route"
)

// A late memory learns of the request of a twin between the first look at its
// key and the second.
type lateMemory struct {
	*memory
	twin  domain.Replay
	looks int
}

func (l *lateMemory) Look(context.Context, domain.IdempotencyKey) (domain.Replay, error) {
	if l.looks++; l.looks == 1 {
		return domain.Replay{State: domain.ReplayFree}, nil
	}
	return l.twin, nil
}

// A repeat that is refused because of what its own first request has done is
// answered as that one.
func TestARefusedRepeatLooksOnceMore(t *testing.T) {
	for name, test := range map[string]struct {
		twin   domain.Replay
		status int
		body   string
	}{
		"finished": {
			domain.Replay{State: domain.ReplayFinished, Status: http.StatusCreated, Body: []byte(`{"id":1}`)},
			http.StatusCreated, `{"id":1}`,
		},
		"running": {domain.Replay{State: domain.ReplayRunning}, http.StatusConflict, `"code":"idempotency_in_progress"`},
		"another": {domain.Replay{State: domain.ReplayReused}, http.StatusUnprocessableEntity, `"code":"idempotency_key_reused"`},
		"absent":  {domain.Replay{State: domain.ReplayFree}, http.StatusBadRequest, `{"domain":["site with this domain already exists."]}`},
	} {
		late := &lateMemory{memory: &memory{}, twin: test.twin}
		access := route.Access{Rule: "user", Scheme: "bearer", Identify: func(context.Context, route.Request) (route.Caller, error) {
			return route.Caller{Principal: "user:1"}, nil
		}}
		table := route.Mount(route.Options{Once: late}, route.Area{Access: access, Routes: []route.Route{
			route.Post("/a/", "a", func(context.Context, route.Call, *site) (*site, error) {
				return nil, domain.RefuseField("domain", "site with this domain already exists.")
			}),
		}})
		r := httptest.NewRequest("POST", "/a/", strings.NewReader(`{"domain":"a.example"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "k")
		w := httptest.NewRecorder()
		table.ServeHTTP(w, r)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.body) || late.looks != 2 {
			t.Errorf("%s: %d %s after %d looks", name, w.Code, w.Body, late.looks)
		}
	}
}
