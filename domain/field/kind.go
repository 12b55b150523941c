package field

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
)

// A kind is the type of a field, bound to the place where its value lives.
type kind interface {
	// read takes what was sent. It returns messages when that cannot be a
	// value of the field.
	read(sent Value, f *Field) []string
	// show appends the value as JSON.
	show(b []byte, f *Field) []byte
	// place is the address of the value, for the log.
	place() any
	// apart is the same kind with a place of its own.
	apart() kind
	// set puts a default in place; false: it is of another type.
	set(v any) bool
	// describe says what a form has to know of the kind.
	describe(f *Field, m *Metadata)
	// schema says what the kind is in the words of OpenAPI.
	schema(f *Field) map[string]any
}

// Each constructor names a field and says where its value lives.

// Text is a text of one line.
func Text(name string, at *string) Field { return Field{Name: name, kind: text{at}} }

// Int is a whole number.
func Int(name string, at *int64) Field { return Field{Name: name, kind: integer{at}} }

// Flag is a boolean.
func Flag(name string, at *bool) Field { return Field{Name: name, kind: flag{at}} }

// Amount is an exact decimal with so many digits in total, that many of them
// decimal places. It is shown as text with all of its places.
func Amount(name string, at *decimal.Decimal, digits, places int32) Field {
	return Field{Name: name, kind: &amount{at, digits, places}, brief: places}
}

// Time is a moment, to the microsecond, shown in UTC.
func Time(name string, at *time.Time) Field { return Field{Name: name, kind: moment{at}} }

// UUID is a universally unique identifier.
func UUID(name string, at *uuid.UUID) Field { return Field{Name: name, kind: identifier{at}} }

// Ref is the number of another record.
func Ref(name string, at *int64) Field { return Field{Name: name, kind: reference{at}} }

// Texts is a list of texts. Min and Max bound the list; its items take the
// options of the field that items describes, which may be nil.
func Texts(name string, at *[]string, items func(Field) Field) Field {
	return Field{Name: name, kind: listOf(at, Text, items)}
}

// Refs is a list of numbers of other records.
func Refs(name string, at *[]int64) Field { return Field{Name: name, kind: listOf(at, Ref, nil)} }

// UUIDs is a list of identifiers.
func UUIDs(name string, at *[]uuid.UUID) Field {
	return Field{Name: name, kind: listOf(at, UUID, nil)}
}

// Any is any JSON value, kept as it was sent.
func Any(name string, at *json.RawMessage) Field { return Field{Name: name, kind: anything{at}} }

// The Null variants may be null, which is nil.

// NullText is a text or null.
func NullText(name string, at **string) Field { return Field{Name: name, kind: orNull(at, Text)} }

// NullInt is a whole number or null.
func NullInt(name string, at **int64) Field { return Field{Name: name, kind: orNull(at, Int)} }

// NullFlag is a boolean or null.
func NullFlag(name string, at **bool) Field { return Field{Name: name, kind: orNull(at, Flag)} }

// NullTime is a moment or null.
func NullTime(name string, at **time.Time) Field { return Field{Name: name, kind: orNull(at, Time)} }

// NullUUID is an identifier or null.
func NullUUID(name string, at **uuid.UUID) Field { return Field{Name: name, kind: orNull(at, UUID)} }

// NullRef is the number of another record or null.
func NullRef(name string, at **int64) Field { return Field{Name: name, kind: orNull(at, Ref)} }

// NullAmount is an [Amount] or null.
func NullAmount(name string, at **decimal.Decimal, digits, places int32) Field {
	of := func(name string, at *decimal.Decimal) Field { return Amount(name, at, digits, places) }
	return Field{Name: name, kind: orNull(at, of), brief: places}
}

// Object is a record within the record, shown as null when there is none. It
// is read-only.
func Object[T any, P interface {
	*T
	Record
}](name string, at **T) Field {
	return Field{Name: name, kind: object[T, P]{at}}.ReadOnly()
}

// Within is a record within the record whose fields only a table knows, shown
// as null when there is none. It is read-only.
func Within(name string, there bool, of func() Set) Field {
	return Field{Name: name, kind: within{there, of}}.ReadOnly()
}

// Objects is a list of records within the record. It is read-only.
func Objects[T any, P interface {
	*T
	Record
}](name string, at *[]T) Field {
	return Field{Name: name, kind: objects[T, P]{at}}.ReadOnly()
}
