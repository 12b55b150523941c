//go:build system

package webhook_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hostpanel/domain"
)

func TestAnAnswerThatNeverEndsIsNotWaitedFor(t *testing.T) {
	o := options()
	o.Timeout = 2 * time.Second
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 8<<20))
	_ = z.Close()
	for name, does := range map[string]http.HandlerFunc{
		"a stream without end": func(a http.ResponseWriter, q *http.Request) {
			for q.Context().Err() == nil {
				if _, err := a.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		},
		"a body that does not come": func(a http.ResponseWriter, q *http.Request) {
			_, _ = io.Copy(io.Discard, q.Body) // a server notices a closed connection only after the body is read
			a.WriteHeader(200)
			_ = http.NewResponseController(a).Flush()
			<-q.Context().Done()
		},
		"a bomb": func(a http.ResponseWriter, _ *http.Request) {
			a.Header().Set("Content-Encoding", "gzip")
			_, _ = a.Write(bomb.Bytes())
		},
	} {
		began := time.Now()
		if status, err := post(t, o, does); status != 200 || err != nil {
			t.Errorf("%s: %d, %v", name, status, err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s: took %s", name, took)
		}
	}
	_, err := post(t, o, func(a http.ResponseWriter, _ *http.Request) {
		for i := range 2000 {
			a.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 100))
		}
	})
	if f := failure(t, err); f.Class != domain.Unknown || f.Code != "connection_lost" {
		t.Errorf("a head without end: %+v", f)
	}
}
