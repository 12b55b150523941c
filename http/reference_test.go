package http_test

import (
	"testing"

	"hostpanel/http/reference"
	"hostpanel/paneltest"
)

const referenceMost = 250_000 // bytes of all its files, compressed

func TestTheReferenceIsSmall(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	w := s.Call("GET", paneltest.ReferencePath, "", "Accept-Encoding", "gzip")
	all := w.Body.Len() + len(reference.Style) + len(reference.Script)
	t.Logf("%d bytes", all)
	if all > referenceMost || w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%d bytes of a page that is sent as %q", all, w.Header().Get("Content-Encoding"))
	}
}
