package orders_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/http/web"
	"hostpanel/paneltest"
)

func TestTheWidgetIsServedToEveryPage(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	for path, cache := range map[string]string{
		"/storefront/widget.js": "public, max-age=300",
		web.Widget.Path():       "public, max-age=31536000, immutable",
	} {
		w := s.Call("GET", path, "", "Origin", "https://shop.example")
		for name, want := range map[string]string{
			"Content-Type": "text/javascript; charset=utf-8", "Access-Control-Allow-Origin": "*",
			"Cross-Origin-Resource-Policy": "cross-origin",
			"Cache-Control":                cache, "X-Content-Type-Options": "nosniff",
		} {
			if got := w.Header().Get(name); got != want || w.Code != http.StatusOK {
				t.Errorf("%s: %d, %s: %s", path, w.Code, name, got)
			}
		}
		if again := s.Call("GET", path, "", "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified {
			t.Errorf("%s again: %d with %q", path, again.Code, w.Header().Get("ETag"))
		}
	}
	if hash := web.Widget.Integrity(); !strings.HasPrefix(hash, "sha384-") || len(hash) != len("sha384-")+64 {
		t.Errorf("the hash is %s", hash)
	}
	if w := s.Call("GET", "/storefront/widget/1-00000000.js", ""); w.Code != http.StatusNotFound {
		t.Errorf("a version that never was: %d", w.Code)
	}
}
