package web

import (
	"crypto/sha256"
	"crypto/sha512"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"path"
)

// The order form for other websites is one script, which is served as it
// stands (docs/widget.md).

// WidgetVersion counts the releases of the script. A released file is copied to
// widget/released before the script changes, and is served for ever.
const WidgetVersion = "1"

const (
	WidgetPath   = "/storefront/widget.js" // of the script, as it is now
	WidgetFolder = "/storefront/widget/"   // of its versions, which never change
)

//go:embed widget/widget.js
var widgetScript []byte

//go:embed widget/released
var releasedWidgets embed.FS

// A WidgetScript is one version of the order form's script.
type WidgetScript struct {
	Name string // of its file, with version and hash
	Body []byte
}

// Path is where browsers find this version for ever.
func (w WidgetScript) Path() string { return WidgetFolder + w.Name }

// Integrity is the hash for the attribute of that name.
func (w WidgetScript) Integrity() string {
	sum := sha512.Sum384(w.Body)
	return "sha384-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Hash is the beginning of the script's hash, as in its name.
func (w WidgetScript) Hash() string { return widgetHash(w.Body) }

func widgetHash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:4])
}

// Widget is the script as it is now.
var Widget = WidgetScript{WidgetVersion + "-" + widgetHash(widgetScript) + ".js", widgetScript}

// WidgetNamed returns the script with that file name: the present one, or one
// that was released.
func WidgetNamed(name string) (WidgetScript, bool) {
	if name == Widget.Name {
		return Widget, true
	}
	body, err := fs.ReadFile(releasedWidgets, path.Join("widget/released", path.Base(name)))
	return WidgetScript{name, body}, err == nil && path.Ext(name) == ".js"
}
