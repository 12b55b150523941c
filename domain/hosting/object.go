package hosting

import (
	"maps"
	"strconv"

	"hostpanel/domain/field"
)

// Works tells whether the hosting engine works behind the kind's resources.
func (k Kind) Works() bool { return k.Backend == Engine }

// Object is a resource as the hosting engine is to have it: its natural key
// there, our reference, and the values of its spec but for secrets. The
// parent's values are those of what it is a part of; nil for kinds that are a
// part of nothing. The caller adds the engine's ids.
func (k Kind) Object(id int64, spec, parent field.Values) EngineObject {
	o := EngineObject{Kind: k.Name, Name: k.nameAtEngine(spec, parent), Values: maps.Clone(spec)}
	for _, name := range k.Secrets() {
		delete(o.Values, name)
	}
	if k.Shape != nil {
		k.Shape(id, &o)
	}
	return o
}

func (k Kind) nameAtEngine(spec, parent field.Values) string {
	switch {
	case k.EngineName != nil:
		return k.EngineName(spec, parent)
	case len(k.NamedBy) == 1:
		return text(spec, k.NamedBy[0])
	}
	return ""
}

// NameIn is the object's natural key once its parents are known. It begins with
// the engine's number of the parent where it is unique in there only.
func (k Kind) NameIn(o EngineObject) string {
	if parent, is := k.Parent(); is && k.NamedIn {
		return strconv.FormatInt(o.Parents[parent.Field], 10) + " " + o.Name
	}
	return o.Name
}

// Naming are the values of a spec that the object's natural key follows from.
func (k Kind) Naming(spec field.Values) field.Values {
	name := field.Values{}
	for _, f := range k.NamedBy {
		name[f] = spec[f]
	}
	return name
}
