package orders_test

import (
	"compress/gzip"
	"io"
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

// Files that are the same for all are compressed for callers who take that. Pages are not: they
// have tokens, of which a compressed length would tell (docs/security.md, "Compression").
func TestFilesAreSentCompressedAndPagesAreNot(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	for _, path := range []string{"/storefront/widget.js", web.Widget.Path(), web.StylePath, web.LivePath, web.CopyPath} {
		plain, zipped := s.Call("GET", path, ""), s.Call("GET", path, "", "Accept-Encoding", "gzip, br")
		z, err := gzip.NewReader(zipped.Body)
		if err != nil || zipped.Header().Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s: %v %v", path, zipped.Header(), err)
		}
		if text, err := io.ReadAll(z); err != nil || string(text) != plain.Body.String() {
			t.Errorf("%s is another file when it is compressed: %v", path, err)
		}
		tag := zipped.Header().Get("ETag")
		if tag == plain.Header().Get("ETag") || zipped.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: both forms have the ETag %s", path, tag)
		}
		again := s.Call("GET", path, "", "Accept-Encoding", "gzip", "If-None-Match", tag)
		if again.Code != http.StatusNotModified {
			t.Errorf("%s again: %d", path, again.Code)
		}
	}
	b := s.Visiting(t, paneltest.Ana)
	for _, page := range []string{"/account/", "/panel/", "/login/"} {
		if w := b.Get(page, "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed", page)
		}
	}
}
