package domain

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
)

// A Catalogue knows every event that may stand in the log, in all the shapes
// it ever had.
type Catalogue map[string]Fact

// A Fact is one entry of a [Catalogue]: how to read an event of any age, and
// which of its texts are personal.
type Fact struct {
	name     string
	older    []upcast // older[0] turns schema 1 into schema 2, and so on
	decode   func([]byte) (Event, error)
	personal map[string]Purpose
}

type upcast func([]byte) ([]byte, error)

// A Purpose says under which of a person's keys a text is sealed, and so which
// erasure blanks it.
type Purpose string

const (
	Contact Purpose = "contact" // erased when the person asks for it
	Fiscal  Purpose = "fiscal"  // invoices: erased when the legal period ends
)

// A Personal event holds personal data of one subject; the log seals the
// texts that its [Fact] names. Folds never depend on them.
type Personal interface {
	Event
	Subject() uuid.UUID
}

// A Numbered event carries a number without gaps, which only the log's
// transaction can give. Number one is the first of a series.
type Numbered interface {
	Event
	Series() string // such as "INV-2026"
	WithNumber(int64) Event
}

// FactOf catalogues the event type E in its present shape. Its past shapes
// follow, oldest first, each given by a [Was].
func FactOf[E Event](past ...upcast) Fact {
	var zero E
	return Fact{name: zero.EventName(), older: past, decode: func(data []byte) (Event, error) {
		var e E
		err := json.Unmarshal(data, &e)
		return e, err
	}}
}

// Sealing names texts of the event, by their JSON names, as personal.
func (f Fact) Sealing(purpose Purpose, names ...string) Fact {
	personal := maps.Clone(f.personal)
	if personal == nil {
		personal = map[string]Purpose{}
	}
	for _, name := range names {
		personal[name] = purpose
	}
	f.personal = personal
	return f
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

// NewCatalogue collects facts. It panics if two share a name: that is a
// mistake in the program, not in its input.
func NewCatalogue(groups ...[]Fact) Catalogue {
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

// Personal returns the JSON names of the event's personal texts.
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
