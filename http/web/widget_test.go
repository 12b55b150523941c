package web

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const widgetMost = 20_000 // bytes, compressed

func TestTheWidgetIsSmall(t *testing.T) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(Widget.Body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes with gzip", b.Len())
	if b.Len() > widgetMost {
		t.Errorf("%d bytes with gzip, more than %d", b.Len(), widgetMost)
	}
	brotli, err := exec.LookPath("brotli")
	if err != nil {
		return // gzip is the larger one
	}
	out, err := exec.Command(brotli, "-c", "widget/widget.js").Output()
	if err != nil || len(out) > widgetMost {
		t.Errorf("%d bytes with brotli: %v", len(out), err)
	}
}

// The script runs on pages of others: markup, code from texts, cookies, frames
// and keys have no place in it.
func TestTheWidgetUsesNothingThatAPageMayForbid(t *testing.T) {
	for _, forbidden := range []string{
		`innerHTML`, `outerHTML`, `insertAdjacent`, `document\.write`, `\beval\b`, `new Function`, `document\.cookie`,
		`iframe`, `localStorage`,
		`sfk_[a-z]+_\w{8}`, `setAttribute\("style`, `createElement\("style`, `\bimport\b`,
	} {
		if found := regexp.MustCompile(forbidden).Find(Widget.Body); found != nil {
			t.Errorf("the script has %s", found)
		}
	}
}

func TestReleasedWidgetsAreKeptUnderTheirHash(t *testing.T) {
	released, err := filepath.Glob("widget/released/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range released {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		version, hash, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".js"), "-")
		w, known := WidgetNamed(filepath.Base(file))
		if hash != widgetHash(body) || !known || !bytes.Equal(w.Body, body) {
			t.Errorf("%s is not what its name says", file)
		}
		if version == WidgetVersion && !bytes.Equal(body, Widget.Body) {
			t.Errorf("version %s was released: count on", version)
		}
	}
	if _, known := WidgetNamed("1-00000000.js"); known {
		t.Error("a version that never was is served")
	}
}
