package field

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const textMax = 255 // of a text that names no other limit

type text struct{ at *string }

func (t text) place() any  { return t.at }
func (t text) apart() kind { return text{new(string)} }

func (t text) set(v any) bool {
	s, ok := v.(string)
	if ok {
		*t.at = s
	}
	return ok
}

func (t text) show(b []byte, _ *Field) []byte { return AppendText(b, *t.at) }

func (t text) read(sent Value, f *Field) []string {
	if f.OneOf != nil {
		return t.choose(sent, f)
	}
	if sent.Kind != TextValue && (sent.Kind != NumberValue || f.verbatim) {
		return []string{f.notText()}
	}
	s := sent.Text
	if !f.verbatim {
		s = strings.TrimSpace(s)
	}
	if s == "" {
		*t.at = ""
		if f.mayBeBlank() {
			return nil
		}
		return []string{"This field may not be blank."}
	}
	tidy, wrong := checkText(s, f)
	*t.at = tidy
	if !utf8.ValidString(tidy) || strings.IndexByte(tidy, 0) >= 0 {
		*t.at = "" // the database can look for no such text
	}
	return wrong
}

// notText is said of values of another type. Rules with a format of their own
// say what they want instead, as Django REST Framework does.
func (f *Field) notText() string {
	for _, r := range f.rules {
		if r.OfType {
			return r.Message
		}
	}
	return "Not a valid string."
}

// choose takes one of the field's choices, as it is.
func (t text) choose(sent Value, f *Field) []string {
	s := sent.repr()
	if sent.Kind == TextValue || sent.Kind == NumberValue {
		s = sent.Text
	}
	if s == "" && f.mayBeBlank() || slices.Contains(f.OneOf, s) {
		*t.at = s
		return nil
	}
	return []string{NotAChoice(s)}
}

// longest is how many characters a text may have at most: the field's own
// limit, or the last of its rules that has one.
func (f *Field) longest() int64 {
	if f.limit.hasMax {
		return f.limit.max
	}
	most := int64(textMax)
	for _, r := range f.rules {
		if r.Max > 0 {
			most = r.Max
		}
	}
	return most
}

// checkText returns the text in the form in which it is kept, and everything
// that is wrong with it.
func checkText(s string, f *Field) (string, []string) {
	most := f.longest()
	for _, r := range f.rules {
		if r.Tidy != nil && int64(len(s)) <= utf8.UTFMax*(most+1) { // longer ones are wrong in any form
			s = r.Tidy(s)
		}
	}
	wrong := checkLength(s, f, most)
	wrong = append(wrong, checkCharacters(s, f.lines)...)
	if strings.IndexByte(s, 0) >= 0 {
		return s, wrong // no rule has more to say of it
	}
	for _, r := range f.rules {
		wrong = append(wrong, r.problems(s)...)
	}
	return s, wrong
}

func checkLength(s string, f *Field, most int64) (wrong []string) {
	n := int64(utf8.RuneCountInString(s))
	if n > most {
		wrong = append(wrong, fmt.Sprintf("Ensure this field has no more than %d characters.", most))
	}
	if f.limit.hasMin && n < f.limit.min {
		wrong = append(wrong, fmt.Sprintf("Ensure this field has at least %d characters.", f.limit.min))
	}
	return wrong
}

func checkCharacters(s string, lines bool) (wrong []string) {
	if strings.IndexByte(s, 0) >= 0 {
		wrong = append(wrong, noNUL)
	}
	if r, has := surrogateIn(s); has {
		wrong = append(wrong, fmt.Sprintf("Surrogate characters are not allowed: U+%X.", r))
	}
	if !lines && strings.ContainsAny(s, "\n\r\v\f\u0085\u2028\u2029") {
		wrong = append(wrong, "Line breaks are not allowed.")
	}
	return wrong
}

func (text) schema(f *Field) map[string]any {
	s := map[string]any{"type": "string"}
	for _, r := range f.rules {
		if r.Format != "" && !f.mayBeBlank() { // a blank text has no format, and strict clients refuse it
			s["format"] = r.Format
		}
		if r.Pattern != "" {
			s["pattern"] = r.Pattern
			if f.mayBeBlank() {
				s["pattern"] = "^$|" + r.Pattern
			}
		}
		if r.Max > 0 {
			s["maxLength"] = r.Max
		}
	}
	if f.OneOf != nil {
		s["enum"] = f.OneOf
		return s
	}
	f.limit.describe(s, "minLength", "maxLength")
	return s
}

// describe puts the bounds into a schema.
func (l limit) describe(s map[string]any, low, high string) {
	if l.hasMin {
		s[low] = l.min
	}
	if l.hasMax {
		s[high] = l.max
	}
}
