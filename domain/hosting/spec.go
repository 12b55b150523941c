package hosting

import (
	"time"

	"hostpanel/domain/field"
)

// A Spec is the desired state of one hosting resource. Beside its fields it may
// have methods for what is special about its kind; the functions of this file
// call those that it has.
type Spec interface{ Fields() field.Set }

func spec[S any, P interface {
	*S
	Spec
}]() Spec {
	return P(new(S))
}

// Complete fills in the fields of a record that follow from others, and
// defaults that depend on where it stands.
func Complete(s Spec, p Place) {
	if c, can := s.(interface{ complete(Place) }); can {
		c.complete(p)
	}
}

// Check validates a complete record by the rules between its fields, and against
// where it stands. What is known to be wrong with a field is in wrong.
func Check(s Spec, p Place, wrong *field.Errors) {
	if c, can := s.(interface{ check(Place, *field.Errors) }); can {
		c.check(p, wrong)
	}
}

// Derived are the fields of an answer that follow from the spec, from the time,
// and from whether there is what the spec links to ([LinkOf]).
func Derived(s Spec, now time.Time, linked bool) field.Set {
	if d, can := s.(interface {
		derived(time.Time, bool) field.Set
	}); can {
		return d.derived(now, linked)
	}
	return nil
}

// Normal are the values of a spec in the form in which two specs that mean the same
// are equal. Values that are none of the kind's stay as they are.
func Normal(kind Kind, values field.Values) field.Values {
	spec := kind.New()
	if spec.Fields().Load(values) != nil {
		return values
	}
	if n, can := spec.(interface{ normal() }); can {
		n.normal()
	}
	return spec.Fields().Values()
}

// A Link leads to the resource of a kind that has this value in a field.
type Link struct{ Kind, Field, Value string }

// LinkOf is where a spec leads without a reference, as the destination of an
// alias leads to a mailbox; false: nowhere.
func LinkOf(s Spec) (link Link, leads bool) {
	if l, can := s.(interface{ link() (Link, bool) }); can {
		return l.link()
	}
	return link, false
}

// A Query asks for the resources of a kind that have these values.
type Query struct {
	Kind   string
	Having map[string]any // by field; "tenant" is the tenant; a list of texts: one of them
}

// NearTo asks for the resources that [Check] compares a complete spec with
// ([Place.Beside]). It is asked step by step with what is known by then, until it asks
// for nothing more: who knows a forward knows where the next one begins.
func NearTo(s Spec, tenant int64, step int, known []field.Values) []Query {
	if o, can := s.(interface {
		onward(step int, known []field.Values) []Query
	}); can {
		return o.onward(step, known)
	}
	if n, can := s.(interface{ near(tenant int64) []Query }); can && step == 0 {
		return n.near(tenant)
	}
	return nil
}

// Led are the fields of a part that follow from the spec of what it is a part
// of, as those of a proxy follow from its site; kind "": there are none.
func Led(s Spec) (kind string, values field.Values) {
	if l, can := s.(interface{ led() (string, field.Values) }); can {
		return l.led()
	}
	return "", nil
}

// Serves tells whether a resource that has the same key as a wanted one will do
// in its place.
func Serves(s Spec, wanted map[string]any) bool {
	if a, can := s.(interface{ serves(map[string]any) bool }); can {
		return a.serves(wanted)
	}
	return true
}
