package hosting

import "hostpanel/domain/field"

// What passes between hosting resources and the servers that run them.

// An EngineObject is a resource as the hosting engine keeps it.
type EngineObject struct {
	Kind     string       // "tenant" is the engine's client, "site" its virtual host
	ID       int64        // the engine's own
	Owner    int64        // engine id of the owning client
	Name     string       // natural key: login, domain
	Ref      string       // ours, searchable: customer number "t17"
	Values   field.Values // as sent
	Observed field.Values // what only the engine knows, such as document_root
	Applied  bool         // not only accepted, but carried out
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
	State     string // "running"
	Address   string // empty until it has one
}
