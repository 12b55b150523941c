// Package field describes the fields of a record once. From that description
// come the decoding of requests, their checks, the JSON of answers, the API
// document and the form in which the log keeps the record.
//
// A record declares itself in the manner of package flag, by name and address:
//
//	func (s *Site) Fields() field.Set {
//		return field.Set{
//			field.Text("domain", &s.Domain).Required().Is(field.Domain),
//			field.Flag("ssl_enabled", &s.SSLEnabled).Default(false),
//		}
//	}
//
// docs/api.md, "Wire rules", has what a request may look like and what the
// messages mean.
package field

import (
	"reflect"
	"slices"
	"strings"
)

// A Set describes a record, field by field, in the order in which it is shown.
type Set []Field

// A Record declares its own fields.
type Record interface{ Fields() Set }

// A Field is one named value of a record.
type Field struct {
	Name    string
	About   string   // what it means, for the API document
	Aliases []string // other names under which it may be sent
	OneOf   []string // the texts that it may be; nil: any
	Head    string   // of its column in a table; "": its name
	Key     string   // of its label in the texts of pages; "": pages do not name it
	Words   string   // what the keys of its values' texts begin with; "": its values have none

	kind  kind // where the value lives, how it is read and shown
	rules []Rule
	limit limit

	preset                           any // the value of a field that is left out
	required, readOnly, secret, once bool
	oneTime, hidden, hasPreset       bool
	blank, verbatim, lines           bool // of texts
	orNull                           bool // of lists
	emptied                          bool // null and "" stand for the default
	spoken                           bool // of texts: the default is the installation's language
	fault                            bool // of texts: it says what went wrong
	currency                         *string
	brief                            int32
}

// A limit bounds the length of a text or list, or the value of a number.
type limit struct {
	min, max       int64
	hasMin, hasMax bool
	or             int64 // one more value outside of them
	hasOr          bool
}

// Required fields have to be sent when a record is created or replaced.
func (f Field) Required() Field { f.required = true; return f }

// ReadOnly fields are ours to set. Sending one has no effect.
func (f Field) ReadOnly() Field { f.readOnly = true; return f }

// Once given, the value of the field stays: a later request may repeat it, but
// not change it.
func (f Field) Once() Field { f.once = true; return f }

// KnownAs other names, the field may be sent under them too; its own name
// counts if several are, and then the first.
func (f Field) KnownAs(aliases ...string) Field { f.Aliases = aliases; return f }

// Secret fields are accepted and never shown.
func (f Field) Secret() Field { f.secret = true; return f }

// OneTime values are shown in the answer that made them; a replay of that
// answer has null in their place.
func (f Field) OneTime() Field { f.oneTime = true; return f }

// Default is the value of a field that the creation of a record leaves out. A
// text whose default is "" may be sent blank.
func (f Field) Default(v any) Field { f.preset, f.hasPreset = v, true; return f }

// HasDefault tells whether the field has a value of its own when it is left out.
func (f Field) HasDefault() bool { return f.hasPreset }

// DefaultLanguage is that of requests that name none, unless the operator sets another.
const DefaultLanguage = "es"

// Spoken texts name a language. One that is left out is the default language,
// which [Set.Speaking] sets.
func (f Field) Spoken() Field {
	f.spoken = true
	return f.Is(Language).Default(DefaultLanguage)
}

// Emptied fields take null and "" for their default.
func (f Field) Emptied() Field { f.emptied = true; return f }

// Is adds a rule for the text.
func (f Field) Is(r Rule) Field { f.rules = append(slices.Clip(f.rules), r); return f }

// Among limits the text to the given values.
func (f Field) Among(values ...string) Field { f.OneOf = values; return f }

// Min is the least length of a text or list, or the least value of a number.
func (f Field) Min(n int64) Field { f.limit.min, f.limit.hasMin = n, true; return f }

// Max is the greatest length of a text or list, or the greatest value of a
// number. A text without a limit of its own or of its rules takes 255
// characters.
func (f Field) Max(n int64) Field { f.limit.max, f.limit.hasMax = n, true; return f }

// Between is both Min and Max.
func (f Field) Between(low, high int64) Field { return f.Min(low).Max(high) }

// Or is one more value of a number, outside of its bounds: -1 for "no limit".
func (f Field) Or(n int64) Field { f.limit.or, f.limit.hasOr = n, true; return f }

// Blank allows "" for a text.
func (f Field) Blank() Field { f.blank = true; return f }

// Verbatim texts are taken as they are: never trimmed, and numbers are no
// texts. Passwords are.
func (f Field) Verbatim() Field { f.verbatim = true; return f }

// OrNull lets a list be null, which is nil.
func (f Field) OrNull() Field { f.orNull = true; return f }

// Lines allows line breaks in a text.
func (f Field) Lines() Field { f.lines = true; return f }

// Places shows an amount with this many decimal places, and with all of its
// declared ones when the value needs them.
func (f Field) Places(n int32) Field { f.brief = n; return f }

// When shows the field only if the record has it. The API document names it
// in any case.
func (f Field) When(has bool) Field { f.hidden = !has; return f }

// Doc says what the field means, for the API document.
func (f Field) Doc(about string) Field { f.About = about; return f }

// Value is what the field holds: a string, int64, bool, decimal.Decimal,
// time.Time or uuid.UUID, a list of them, or a pointer to one that may be null.
func (f Field) Value() any { return reflect.ValueOf(f.kind.place()).Elem().Interface() }

// IsSecret tells whether the field is accepted and never shown.
func (f Field) IsSecret() bool { return f.secret }

// IsReadOnly tells whether what is sent for the field has no effect.
func (f Field) IsReadOnly() bool { return f.readOnly }

// IsRequired tells whether the field has to be sent.
func (f Field) IsRequired() bool { return f.required }

// mayBeBlank tells whether "" is a value of the text.
func (f *Field) mayBeBlank() bool { return f.blank || f.hasPreset && f.preset == "" }

// Named returns the field of that name.
func (s Set) Named(name string) (Field, bool) {
	for i := range s { // in place: a field is large
		if s[i].Name == name {
			return s[i], true
		}
	}
	return Field{}, false
}

// Arranged are the named fields, in the order of the names. A name such as
// "max_*" stands for the fields that begin so and come under no other name
// before it. Arranged uses the set's own storage, so the set is used up.
func (s Set) Arranged(names []string) Set {
	n := 0
	for _, name := range names {
		before := n
		prefix, group := strings.CutSuffix(name, "*")
		for at := n; at < len(s) && (group || n == before); at++ {
			if s[at].Name == name || group && strings.HasPrefix(s[at].Name, prefix) {
				s[n], s[at] = s[at], s[n]
				n++
			}
		}
		if n == before && !group {
			panic("field: there is no field " + name) // declared wrong
		}
	}
	return s[:n]
}

// Has tells whether the set has a field of that name, such as whether a
// request brought one.
func (s Set) Has(name string) bool { _, has := s.Named(name); return has }

// Only are the named fields, in the order of the set.
func (s Set) Only(names ...string) Set {
	return slices.DeleteFunc(slices.Clone(s), func(f Field) bool { return !slices.Contains(names, f.Name) })
}

// Hiding leaves the named field out of answers if that is so; the API document names it.
func (s Set) Hiding(name string, is bool) Set {
	for i := range s {
		s[i].hidden = s[i].hidden || is && s[i].Name == name
	}
	return s
}

// Speaking sets the default of the fields that name a language; "": as declared.
func (s Set) Speaking(language string) Set {
	for i := range s {
		if s[i].spoken && language != "" {
			s[i].preset = language
		}
	}
	return s
}

// Seal replaces the secret texts of the record, so that none reaches the log.
func (s Set) Seal(seal func(string) string) {
	for _, f := range s {
		if t, isText := f.kind.(text); f.secret && isText {
			*t.at = seal(*t.at)
		}
	}
}
