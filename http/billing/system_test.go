//go:build system

package billing_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hostpanel/paneltest"
)

// Until a document is stored callers are told to come back. Then it is there, the same for
// ever.
func TestADocumentIsThereOnceItIsStored(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	own, note := s.Billed(t, 1)
	for _, path := range []string{"invoices/" + own.String(), "credit-notes/" + note.String()} {
		for _, format := range []string{"html", "pdf", "xml"} {
			call := func() *httptest.ResponseRecorder {
				return s.Call(http.MethodGet, billingAPI+path+"/document/?format="+format, "", paneltest.Bearer(s.Known["ben"])...)
			}
			w := call()
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
				!strings.Contains(w.Body.String(), `"code":"document_not_made"`) {
				t.Errorf("%s, %s: %d %s %v", path, format, w.Code, w.Body, w.Header())
			}
		}
	}
	s.Documented(t)
	for _, path := range []string{"invoices/" + own.String(), "credit-notes/" + note.String()} {
		for _, format := range []string{"html", "pdf", "xml"} {
			first := s.Call(http.MethodGet, billingAPI+path+"/document/?format="+format, "", paneltest.Bearer(s.Known["ben"])...)
			again := s.Call(http.MethodGet, billingAPI+path+"/document/?format="+format, "", paneltest.Bearer(s.Known["ben"])...)
			if first.Code != http.StatusOK || first.Body.Len() < 1000 || !bytes.Equal(first.Body.Bytes(), again.Body.Bytes()) {
				t.Errorf("%s, %s: %d %d", path, format, first.Code, again.Code)
			}
		}
	}
	if _, err := s.Owner.Exec(t.Context(), `update subject_keys set key_id = '', wrapped = '' where year is not null`); err != nil {
		t.Fatal(err)
	}
	for w := s.Call(http.MethodGet, billingAPI+"invoices/"+own.String()+"/document/", "",
		paneltest.Bearer(s.Known["ben"])...); w.Code != http.StatusGone ||
		!strings.Contains(w.Body.String(), `"code":"document_erased"`); {
		if w.Code != http.StatusOK { // keys are remembered for some seconds
			t.Fatalf("after the erasure: %d %s", w.Code, w.Body)
		}
		time.Sleep(50 * time.Millisecond)
		w = s.Call(http.MethodGet, billingAPI+"invoices/"+own.String()+"/document/", "", paneltest.Bearer(s.Known["ben"])...)
	}
}
