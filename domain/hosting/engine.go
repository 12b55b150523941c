package hosting

import (
	"strconv"
	"strings"
	"time"

	"hostpanel/domain/field"
)

// What passes between hosting resources and the servers that run them.

// An EngineObject is a resource as the hosting engine keeps it.
type EngineObject struct {
	Kind     string           // "tenant" is the engine's client, "site" its virtual host
	ID       int64            // the engine's own
	Owner    int64            // engine id of the owning client
	Name     string           // natural key: login, domain, origin, address, [RecordName]
	Former   string           `json:",omitempty"` // natural key until this change, where a change alters it
	Ref      string           // ours, searchable: customer number "t17"
	Parents  map[string]int64 `json:",omitempty"` // engine ids of what it refers to, by field: "site", "zone", "mail_domain"
	Values   field.Values     // as sent; as the panel's fields say it
	Changed  []string         `json:",omitempty"` // in a change: the fields that differ; none: compare all
	Secrets  Secrets          `json:"-"`          // handed over with the call, never kept
	Observed field.Values     // what only the engine knows, such as document_root
	Applied  bool             // not only accepted, but carried out
	Refused  bool             `json:",omitempty"` // accepted, and then the server would not carry it out
	Partial  bool             `json:",omitempty"` // perhaps not whole: a creation may have been cut short; another completes it
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

// Usage is what a tenant uses at the engine, by the engine's own figures. They
// carry no time of their own: ReadAt is when they were asked for.
type Usage struct {
	ReadAt  time.Time
	Storage []Measure        // sites, mailboxes, databases
	Traffic map[string]int64 // bytes this month by domain; a site that is off is missing: its last value stands
}

// A Measure is the storage that one resource uses.
type Measure struct {
	Kind  string // "site", "mailbox", "database"
	Name  string // natural key
	Bytes *int64 // nil: the engine does not know
}

// StorageBytes adds up what is known.
func (u Usage) StorageBytes() (sum int64) {
	for _, m := range u.Storage {
		if m.Bytes != nil {
			sum += *m.Bytes
		}
	}
	return sum
}

// A VM is a machine as the hypervisor keeps it.
type VM struct {
	External  string // the hypervisor's id
	Name      string // "vm77"
	Tag       string // the order's id
	Cores     int64
	MemoryMB  int64
	DiskGB    int64
	TrafficTB int64 // a month
	OS        string
	State     string // "running", "stopped"; anything else is on its way to one of them
	Address   string // empty until it has one
}
