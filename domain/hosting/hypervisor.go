package hosting

import "context"

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

// Hypervisor is one hypervisor or a cluster of them.
type Hypervisor interface {
	// Server names it in queues ("compute:<server>") and claims.
	Server() string
	// FindVM looks a machine up by its tag, then by its name. It reads only.
	FindVM(ctx context.Context, tag, name string) (VM, bool, error)
	// CreateVM makes and starts a machine and returns the hypervisor's id of it.
	CreateVM(context.Context, VM) (string, error)
	// SwitchVM switches a machine on or off; its State tells when that has been
	// carried out: "running" or "stopped". One that is as wanted already is a
	// success, one that is not there a permanent failure, "absent".
	SwitchVM(ctx context.Context, external string, on bool) error
	// RemoveVM stops and deletes a machine. One that is gone is a success.
	RemoveVM(ctx context.Context, external string) error
}

// A RoomTeller is a Hypervisor that tells how full it is.
type RoomTeller interface {
	// HasRoom tells whether a machine of this size could be made now. It reads only.
	HasRoom(context.Context, VM) (bool, error)
}
