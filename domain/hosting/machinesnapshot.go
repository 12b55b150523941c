package hosting

import (
	"strconv"
	"time"

	"hostpanel/domain/field"
)

var machineSnapshots = Kind{
	Name: "vm_snapshot", Class: "VMSnapshot", Label: "snapshot", Collection: "vm-snapshots", Backend: Compute,
	Nouns:   map[string]string{"en": "snapshot", "es": "instantánea"},
	Plurals: map[string]string{"en": "Snapshots", "es": "Instantáneas"},
	Shown:   words("id tenant tenant_name vm vm_name name taken_at sync_status sync_error created_at updated_at"),
	Names:   []Name{{Field: "vm_name", Of: "vm", Shows: "name"}},
	Sets:    [][]string{{"vm", "name"}},
	Refs:    []Reference{{Field: "vm", Kind: "vm", Parent: true}},
	Filters: []string{"vm", "name"}, Search: []string{"name"}, Called: "name", Within: "snapshots",
	NamedBy: []string{"vm", "name"}, EngineName: snapshotName, MostIn: "max_snapshots",
	Acts: []MachineAct{restoring}, Verbs: Create | Delete, Writers: Member, New: spec[MachineSnapshot],
}

// A MachineSnapshot is the disk of a machine at a moment. It ends with the disk.
type MachineSnapshot struct {
	Machine int64
	Name    string
	TakenAt *time.Time
}

// Fields are the snapshot.
func (s *MachineSnapshot) Fields() field.Set {
	return field.Set{
		field.Ref("vm", &s.Machine).Required().Once(),
		field.Text("name", &s.Name).Required().Max(60).Is(field.Plain),
		field.NullTime("taken_at", &s.TakenAt).ReadOnly().Doc("null: not yet."),
	}
}

// snapshotName tells a snapshot from others of its machine.
func snapshotName(spec, _ field.Values) string {
	return strconv.FormatInt(number(spec, "vm"), 10) + "/" + text(spec, "name")
}

// SnapshotName is the name of a snapshot at the hypervisor: "s12".
func SnapshotName(id int64) string { return "s" + strconv.FormatInt(id, 10) }
