package domain

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// A Catalogue knows every event that may stand in the log, in all the shapes
// it ever had.
type Catalogue map[string]EventType

// An EventType is one entry of a [Catalogue]: how to read an event of any age, and
// which of its texts are personal.
type EventType struct {
	name     string
	shape    reflect.Type // of today
	older    []upcast     // older[0] turns schema 1 into schema 2, and so on
	decode   func([]byte) (Event, error)
	personal map[string]Purpose
}

type upcast func([]byte) ([]byte, error)

// A Purpose selects the key of a person that a text is sealed with, and so the
// erasure that blanks it.
type Purpose string

const (
	Contact Purpose = "contact" // erased when the person asks for it
	Fiscal  Purpose = "fiscal"  // invoices: erased when the legal period ends; see [FiscalOf]
)

// A FiscalEvent has texts that are kept for the legal period of a year. Its type declares
// them for the purpose [Fiscal]; they are sealed for [FiscalOf] that year.
type FiscalEvent interface {
	Event
	FiscalYear() int // of its number
}

// FiscalOf is the purpose of texts that are kept until the legal period of a year ends.
func FiscalOf(year int) Purpose { return Fiscal + Purpose(fmt.Sprintf("-%d", year)) }

// Year is that of a purpose that [FiscalOf] has made; nil: it is another purpose.
func (p Purpose) Year() *int {
	digits, is := strings.CutPrefix(string(p), string(Fiscal)+"-")
	if year, err := strconv.Atoi(digits); is && err == nil {
		return &year
	}
	return nil
}

// A Numbered event carries a number without gaps, which only the log's
// transaction can give. Number one is the first of a series.
type Numbered interface {
	Event
	Series() string // such as "INV-2026"
	WithNumber(int64) Event
}

// Register catalogues the event type E in its present shape. Its past shapes
// follow, oldest first, each given by a [Was].
func Register[E Event](past ...upcast) EventType {
	var zero E
	return EventType{name: zero.EventName(), shape: reflect.TypeFor[E](), older: past, decode: func(data []byte) (Event, error) {
		var e E
		err := json.Unmarshal(data, &e)
		return e, err
	}}
}

// Sealing declares texts of the event as personal; the log seals them. Each is
// named by its JSON path, with "*" for the elements of an array: "email",
// "contacts/*/email". A text belongs to the person whom the member "subject"
// names, in the object that holds the text or in the nearest one around it.
// States never depend on personal texts. Sealing panics if E has no such text.
func (t EventType) Sealing(purpose Purpose, paths ...string) EventType {
	if purpose == Fiscal && !t.shape.Implements(reflect.TypeFor[FiscalEvent]()) {
		panic(fmt.Sprintf("domain: %s has texts of a year, and no year", t.name))
	}
	personal := maps.Clone(t.personal)
	if personal == nil {
		personal = map[string]Purpose{}
	}
	for _, path := range paths {
		if !hasPersonalText(t.shape, path) {
			panic(fmt.Sprintf("domain: %s has no text %q with a subject", t.name, path))
		}
		personal[path] = purpose
	}
	t.personal = personal
	return t
}

// hasPersonalText tells whether a path leads to a text inside an object that
// names its subject.
func hasPersonalText(t reflect.Type, path string) bool {
	hasSubject := false
	for step := range strings.SplitSeq(path, "/") {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch {
		case step == "*" && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
			t = t.Elem()
		case t.Kind() == reflect.Struct:
			subject, named := member(t, "subject")
			hasSubject = hasSubject || named && subject == reflect.TypeFor[uuid.UUID]()
			if t, named = member(t, step); !named {
				return false
			}
		default:
			return false
		}
	}
	return hasSubject && t.Kind() == reflect.String
}

// member returns the type of the field with a JSON name.
func member(t reflect.Type, name string) (reflect.Type, bool) {
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f.Type, true
		}
	}
	return nil, false
}

// Was tells how an event written in the shape Old reads in the next shape.
func Was[Old, Next any](rewrite func(Old) Next) upcast {
	return func(data []byte) ([]byte, error) {
		var old Old
		if err := json.Unmarshal(data, &old); err != nil {
			return nil, err
		}
		return json.Marshal(rewrite(old))
	}
}

// NewCatalogue collects events. It panics if two share a name: that is a
// mistake in the program, not in its input.
func NewCatalogue(groups ...[]EventType) Catalogue {
	c := Catalogue{}
	for _, facts := range groups {
		for _, f := range facts {
			if _, taken := c[f.name]; taken {
				panic("domain: two events are named " + f.name)
			}
			c[f.name] = f
		}
	}
	return c
}

// Names are the stored names of all events, sorted.
func (c Catalogue) Names() []string { return slices.Sorted(maps.Keys(c)) }

// Schema is the number of the shape in which the named event is written today.
func (c Catalogue) Schema(name string) int { return len(c[name].older) + 1 }

// Personal returns the purposes of the event's personal texts by their paths.
func (c Catalogue) Personal(name string) map[string]Purpose { return c[name].personal }

// Decode reads an event that was written in the given schema.
func (c Catalogue) Decode(name string, schema int, data []byte) (Event, error) {
	f, known := c[name]
	if !known || schema < 1 || schema > len(f.older)+1 {
		return nil, fmt.Errorf("no event %s with schema %d in the catalogue", name, schema)
	}
	for _, next := range f.older[schema-1:] {
		var err error
		if data, err = next(data); err != nil {
			return nil, fmt.Errorf("upcast %s: %w", name, err)
		}
	}
	e, err := f.decode(data)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", name, err)
	}
	return e, nil
}
