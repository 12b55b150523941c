package program

import (
	"hostpanel/adapters/compute/sandbox"
	enginesandbox "hostpanel/adapters/engine/sandbox"
	"hostpanel/adapters/faults"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// Migrations are those of all parts that have tables of their own, beside the
// log's and the read tables.
func Migrations() []eventstore.Migration {
	return append([]eventstore.Migration{
		{Area: "sagas", Files: sagas.Migrations},
		{Area: "faults", Files: faults.Migrations}, // the sandboxes need it
		{Area: "engine_sandbox", Files: enginesandbox.Migrations},
		{Area: "compute_sandbox", Files: sandbox.Migrations},
	}, providerMigrations()...)
}
