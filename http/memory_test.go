package http_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"hostpanel/paneltest"
)

// Large bodies of callers without credentials do not grow the heap.
func TestLargeBodiesAtTheTokenEndpointTakeNoMemory(t *testing.T) {
	const calls, most = 48, 8 << 20 // bytes, of 48 MiB that are sent
	s := paneltest.Open(t).People(t)
	handler := s.Server.Handler()
	body := []byte(`{"username":[` + strings.Repeat("0,", 1<<19) + `0]}`)
	post := func(path, length string) int {
		r := httptest.NewRequest("POST", path, bytes.NewReader(body))
		if length == "unknown" {
			r.ContentLength = -1
		}
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	post("/api/token/", "known") // what is made once
	for _, length := range []string{"known", "unknown"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var all sync.WaitGroup
		for range calls {
			all.Go(func() {
				if code := post("/api/token/", length); code != http.StatusRequestEntityTooLarge {
					t.Errorf("of %s length: %d", length, code)
				}
			})
		}
		all.Wait()
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > most {
			t.Errorf("%d bodies of %s length took %d KiB of memory", calls, length, grown>>10)
		}
	}
	for _, path := range []string{
		"/api/token/refresh/", "/api/token/verify/", "/api/token/blacklist/",
		"/api/password-reset/", "/login/", "/set-password/", "/password-reset/",
	} {
		if code := post(path, "unknown"); code != http.StatusRequestEntityTooLarge && code != http.StatusNotFound {
			t.Errorf("%s takes 1 MiB: %d", path, code)
		}
	}
}
