package hosting

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain/field"
)

// What passes between hosting resources and the servers that run them.

// An EngineObject is a resource as the hosting engine keeps it.
type EngineObject struct {
	Kind       string           // "tenant" is the engine's client, "site" its virtual host
	ID         int64            // the engine's own
	Owner      int64            // engine id of the owning client
	Name       string           // natural key: login, domain, origin, address, [RecordName]
	Former     string           `json:",omitempty"` // natural key until this change, where a change alters it
	Ref        string           // ours, searchable: customer number "t17"
	Parents    map[string]int64 `json:",omitempty"` // engine ids of what it refers to, by field: "site", "zone", "mail_domain"
	Values     field.Values     // as sent; as the panel's fields say it
	ByOperator bool             `json:"-"`          // an operator asks for it, as far as a form is checked
	Changed    []string         `json:",omitempty"` // in a change: the fields that differ; none: compare all
	Secrets    Secrets          `json:"-"`          // handed over with the call, never kept
	Observed   field.Values     // what only the engine knows, such as document_root
	Applied    bool             // not only accepted, but carried out
	Refused    bool             `json:",omitempty"` // accepted, and then the server would not carry it out
	Lacks      []string         `json:",omitempty"` // names of what belongs to it and is missing, such as name servers
	Partial    bool             `json:",omitempty"` // perhaps not whole: a creation may have been cut short; another completes it
}

// Secrets are the secret fields of a resource in clear text, by field. They
// print as nothing.
type Secrets map[string]string

// String keeps secrets out of texts.
func (Secrets) String() string { return "[secrets]" }

// GoString keeps secrets out of %#v.
func (Secrets) GoString() string { return "[secrets]" }

// MarshalJSON keeps secrets out of everything that is stored.
func (Secrets) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// A RecordKey tells one DNS record from all others of an engine.
type RecordKey struct {
	Origin   string // "example.com.", dotted
	Name     string // "www.example.com.", dotted; the apex is the origin
	Type     string // "MX"
	Priority int64
	Data     string // as the engine keeps it: unquoted text, dotted targets
}

// RecordName writes the key as the record's natural name:
// "example.com. www.example.com. A 0 192.0.2.1".
func RecordName(k RecordKey) string {
	return strings.Join([]string{k.Origin, k.Name, k.Type, strconv.FormatInt(k.Priority, 10), k.Data}, " ")
}

// ParseRecordName reads what [RecordName] wrote.
func ParseRecordName(name string) (RecordKey, bool) {
	parts := strings.SplitN(name, " ", 5)
	if len(parts) < 5 {
		return RecordKey{}, false
	}
	priority, err := strconv.ParseInt(parts[3], 10, 64)
	return RecordKey{Origin: parts[0], Name: parts[1], Type: parts[2], Priority: priority, Data: parts[4]}, err == nil
}

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

// Logins are the logins that a client of the engine may get: the one that was asked for,
// and others for the case that it is burned. The engine lets no client have a login that
// an earlier one has left behind.
func Logins(asked string) []string {
	all := []string{asked}
	for n := 2; n <= 9; n++ {
		all = append(all, asked+"-"+strconv.Itoa(n))
	}
	return all
}

// IsLogin tells whether a client got a login for the one that was asked for.
func IsLogin(login, asked string) bool { return slices.Contains(Logins(asked), login) }

// LoginAsked is the login in the place of which a client got this one, or this one itself.
func LoginAsked(login string) string {
	if asked, n, is := strings.Cut(login, "-"); is && len(n) == 1 && IsLogin(login, asked) {
		return asked
	}
	return login
}
