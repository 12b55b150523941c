package web

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/route"
)

// A form that changes a record carries a fingerprint of the values that it was made from,
// which is to it what If-Match is to the API. If another user has changed one of them
// meanwhile, nothing is changed: the form comes back with what was typed, and beside each
// field what it is now. What else happens to the record, such as an answer of the server,
// does not matter.

const (
	versionName      = "version"
	changedMeanwhile = "This was changed meanwhile, so nothing was saved. Beside the fields stands what they are " +
		"now. Save again to replace that."
)

// VersionInput is hidden in a form that changes the fields of a record.
func VersionInput(shown field.Set) Input {
	return Input{Name: versionName, Type: "hidden", Value: versionOf(shown)}
}

// versionOf is a fingerprint of the values that a form shows.
func versionOf(shown field.Set) string {
	sum := sha256.New()
	for _, f := range shown {
		if !f.IsSecret() {
			sum.Write([]byte(f.Name + "\x00" + f.FormText() + "\x00"))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// Unchanged refuses a form whose record is not any more as the form has shown it. The call
// that it returns changes the record as it was found, or not at all.
func Unchanged(c route.Call, sent url.Values, found field.Set) (route.Call, error) {
	switch sent.Get(versionName) {
	case versionOf(found):
		return c.Exactly(), nil
	case "":
		return c, domain.RefuseField(versionName, "This field is required.")
	}
	return c, errChanged
}

var errChanged = errors.New("the record was changed since the form was shown")

// stale is a form whose record was changed meanwhile.
func (b *Returned) stale() *Returned {
	b.Status, b.isStale = http.StatusConflict, true
	b.Wrong.Add("", changedMeanwhile)
	return b
}

// compare adds to an input what it is by now, if that is something else than was typed.
func (in *Input) compare(w Words) {
	if in.now == nil || in.Type == "hidden" || in.Type == "password" || in.IsSecret || plainly(in, *in.now) == plainly(in, in.Value) {
		return
	}
	in.Wrong = append(in.Wrong, w["now_is"]+" "+in.said(*in.now, w))
}

// plainly is a value as it is compared: browsers send other line ends, and nothing for a
// box without a tick.
func plainly(in *Input, value string) string {
	if in.Type == "check" && value != "true" {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(value, "\r\n", "\n"))
}

// said is a value of the input in words.
func (in *Input) said(value string, w Words) string {
	for _, one := range in.Options {
		if one.Value == value {
			return one.Text
		}
	}
	switch {
	case in.Type == "check":
		return w["is_"+value]
	case value == "":
		return w["none"]
	}
	return strings.ReplaceAll(value, "\n", ", ")
}
