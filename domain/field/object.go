package field

// An object is a record within the record.
type object[T any, P interface {
	*T
	Record
}] struct{ at **T }

func (o object[T, P]) place() any                  { return o.at }
func (o object[T, P]) apart() kind                 { return object[T, P]{new(*T)} }
func (o object[T, P]) read(Value, *Field) []string { return nil }
func (o object[T, P]) set(any) bool                { return false }
func (o object[T, P]) takesNull()                  {}

func (o object[T, P]) show(b []byte, _ *Field) []byte {
	if *o.at == nil {
		return append(b, "null"...)
	}
	return P(*o.at).Fields().AppendJSON(b)
}

func (o object[T, P]) schema(*Field) map[string]any {
	s := P(new(T)).Fields().Schema(Shown)
	s["type"] = []any{"object", "null"}
	return s
}

// within is a record within the record, of fields that are told when it is
// shown.
type within struct {
	there bool
	of    func() Set
}

func (w within) place() any                  { return nil }
func (w within) apart() kind                 { return w }
func (w within) read(Value, *Field) []string { return nil }
func (w within) set(any) bool                { return false }

func (w within) show(b []byte, _ *Field) []byte {
	if !w.there {
		return append(b, "null"...)
	}
	return w.of().AppendJSON(b)
}

func (w within) schema(*Field) map[string]any {
	s := w.of().Schema(Shown)
	s["type"] = []any{"object", "null"}
	return s
}

// Objects are records within the record.
type objects[T any, P interface {
	*T
	Record
}] struct{ at *[]T }

func (o objects[T, P]) place() any                  { return o.at }
func (o objects[T, P]) apart() kind                 { return objects[T, P]{new([]T)} }
func (o objects[T, P]) read(Value, *Field) []string { return nil }
func (o objects[T, P]) set(any) bool                { return false }

func (o objects[T, P]) show(b []byte, _ *Field) []byte {
	return AppendList[T, P](b, *o.at)
}

func (o objects[T, P]) schema(*Field) map[string]any {
	return map[string]any{"type": "array", "items": P(new(T)).Fields().Schema(Shown)}
}

// A Describer is a record that can put its fields into the storage of another set, so
// that a list of many records needs the memory of one.
type Describer interface {
	Record
	Describe(storage Set) Set // what Fields returns; the storage is used up
}

// AppendList appends records as a JSON array.
func AppendList[T any, P interface {
	*T
	Record
}](b []byte, records []T) []byte {
	b = append(b, '[')
	var set Set
	for i := range records {
		if i > 0 {
			b = append(b, ',')
		}
		if d, is := any(P(&records[i])).(Describer); is {
			set = d.Describe(set[:0])
		} else {
			set = P(&records[i]).Fields()
		}
		b = set.AppendJSON(b)
	}
	return append(b, ']')
}
