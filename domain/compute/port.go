package compute

import (
	"context"
	"io"
)

// A Hypervisor is one hypervisor, or a cluster of them with one interface. It knows no
// idempotency keys; a machine is recognised by its id.
type Hypervisor interface {
	// Server names it in queues ("compute:<server>") and claims.
	Server() string

	// Find looks a machine up by its id, else by its name: one with another id is a
	// stranger's. It reads only. Machines with the same id are a permanent failure,
	// "ambiguous".
	Find(ctx context.Context, m Machine) (Seen, bool, error)
	// List reads all machines, strangers' among them, by name.
	List(context.Context) ([]Seen, error)
	// Hosts reads what the hypervisor consists of, by name.
	Hosts(context.Context) ([]Host, error)

	// Create makes a machine with its disk, starts it if it is to be on, and returns what
	// the hypervisor calls it. What an earlier attempt has left unfinished under the id is
	// completed. A name that a machine with another id has is a permanent failure,
	// "name_taken", a missing template "no_template", and no room "node_full".
	Create(context.Context, Machine) (external string, err error)
	// Change brings a machine to what is wanted. Doing it again changes nothing. While the
	// machine is on its way, such as while it shuts down, the failure is a wait,
	// [OnItsWay]: the call is to be repeated. A machine that is not there is a permanent
	// failure, "absent"; a smaller disk is "disk_shrinks".
	Change(ctx context.Context, external string, m Machine) error
	// Remove stops and deletes a machine with its disk and its snapshots, also what a
	// creation has left unfinished. One that is gone is a success; one with another id
	// stays, with a permanent failure, "drift".
	Remove(ctx context.Context, external string, m Machine) error

	// Snapshots are those of a machine, oldest first.
	Snapshots(ctx context.Context, external string, m Machine) ([]Snapshot, error)
	// TakeSnapshot makes one of the disk. One with the name is a success.
	TakeSnapshot(ctx context.Context, external string, m Machine, name string) error
	// DropSnapshot deletes one. One that is gone is a success.
	DropSnapshot(ctx context.Context, external string, m Machine, name string) error

	// Usage reads what a machine uses.
	Usage(ctx context.Context, external string, m Machine) (Usage, error)
	// Screen connects to the screen of a running machine, in the RFB protocol (VNC). The
	// password is the one that the protocol's authentication asks for; "": none.
	Screen(ctx context.Context, external string, m Machine) (screen io.ReadWriteCloser, password string, err error)
}
