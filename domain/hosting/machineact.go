package hosting

import (
	"cmp"
	"slices"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/field"
)

// A MachineAct is something that owners do with a machine beside changing its fields
// (docs/machines.md, "What owners do").
type MachineAct struct {
	Name         string   // in paths, in the history and in the texts of pages: "restart"
	Title, About string   // in the API document
	Takes        []string // fields of the machine that the caller may send along
	IsGrave      bool     // it loses data: the caller repeats the machine's name
	InRescue     bool     // it is done with a machine that runs the rescue system
	NotInRescue  bool     // it is not

	// Pushes: the hypervisor is told again where nothing changes, because a system may have
	// switched its machine off by itself.
	Pushes bool

	does func(*Machine)
}

// MachineActs are all of them, in the order in which pages offer them.
var MachineActs = []MachineAct{
	{Name: "start", Title: "Start", Pushes: true, does: func(m *Machine) { m.IsOn = true }},
	{
		Name: "shutdown", Title: "Shut down", Pushes: true, does: func(m *Machine) { m.IsOn, m.IsCut = false, false },
		About: "The system is asked to shut down. One that does not within a minute is switched off.",
	},
	{
		Name: "power_off", Title: "Switch off", Pushes: true, does: func(m *Machine) { m.IsOn, m.IsCut = false, true },
		About: "The system is not asked.",
	},
	{
		Name: "restart", Title: "Restart", Pushes: true, does: func(m *Machine) { m.restart(false) },
		About: "While a restart is under way, another one is the same. A new size counts from then on.",
	},
	{
		Name: "reset", Title: "Restart at once", Pushes: true, does: func(m *Machine) { m.restart(true) },
		About: "The system is not asked.",
	},
	{
		Name: "rescue", Title: "Start the rescue system", NotInRescue: true, does: func(m *Machine) { m.Rescue = true; m.boot(true) },
		About: "The disk stays as it is, and can be mounted.",
	},
	{Name: "leave_rescue", Title: "Start from the disk again", InRescue: true, does: func(m *Machine) { m.Rescue = false; m.boot(true) }},
	{
		Name: "reinstall", Title: "Install a system anew", IsGrave: true, Takes: []string{"os", "hostname", "ssh_keys", "root_password"},
		About: "All data on the disk are lost, and so are its snapshots. What is not sent stays as it is.",
		does:  func(m *Machine) { m.Snapshot = ""; m.install() },
	},
}

// restoring is the act of a snapshot, which makes the disk of its machine anew.
var restoring = MachineAct{
	Name: "restore", Title: "Restore the disk", IsGrave: true,
	About: "What was written since is lost. The machine starts from its disk then.",
	does:  func(m *Machine) { m.Disks++; m.IsOn, m.IsCut, m.Rescue = true, true, false },
}

// restart lets the machine start anew, unless it is about to.
func (m *Machine) restart(cut bool) {
	if m.IsOn && m.MadeBoots > 0 && m.MadeBoots < m.Boots {
		m.IsCut = cut
		return
	}
	m.boot(cut)
}

// boot lets the machine start anew.
func (m *Machine) boot(cut bool) {
	m.Boots++
	m.IsOn, m.IsCut = true, cut
}

// install lets the machine's disk be made anew.
func (m *Machine) install() {
	m.Disks++
	m.IsOn, m.IsCut, m.Rescue = true, true, false
	m.Settle()
}

// Remake lets a machine that is lost be made again, with a disk of its template. It runs if it
// was to.
func (m *Machine) Remake() {
	m.MadeDisks = cmp.Or(m.MadeDisks, m.Disks)
	m.Disks = max(m.Disks, m.MadeDisks) + 1
	m.Snapshot, m.Rescue = "", false
	m.Settle()
}

// TakeOver makes the machine what its hypervisor has, as far as it may be so: one that may not
// run stays off.
func (m *Machine) TakeOver(seen compute.Seen, mayRun bool) {
	m.Cores, m.MemoryMB, m.DiskGB = cmp.Or(seen.Cores, m.Cores), cmp.Or(seen.MemoryMB, m.MemoryMB), cmp.Or(seen.DiskGB, m.DiskGB)
	if seen.Disk > 0 && seen.Disk != m.Disks {
		m.Disks, m.MadeDisks = seen.Disk, seen.Disk
	}
	if seen.State != compute.Running || !mayRun {
		return
	}
	if m.IsOn = true; seen.Boot > 0 && seen.Boot != m.Boots {
		m.Boots, m.MadeBoots = seen.Boot, seen.Boot
	}
}

// MachineActNamed is the act of that name.
func MachineActNamed(name string) (MachineAct, bool) {
	i := slices.IndexFunc(MachineActs, func(a MachineAct) bool { return a.Name == name })
	if i < 0 {
		return MachineAct{}, false
	}
	return MachineActs[i], true
}

// IsOpen tells whether the act can be done with a machine that runs the rescue system, or
// not.
func (a MachineAct) IsOpen(inRescue bool) bool {
	return (inRescue || !a.InRescue) && (!inRescue || !a.NotInRescue)
}

// A MachineForm is what a caller sends along with an act.
type MachineForm struct {
	OS, Hostname, Password string
	Keys                   []string
	Confirm                string

	Act  MachineAct
	Sent field.Set // the fields that were sent
}

// FormOf is the empty form of an act.
func (a MachineAct) FormOf() *MachineForm { return &MachineForm{Act: a} }

// Fields are those that the act takes.
func (f *MachineForm) Fields() (set field.Set) {
	for _, each := range []field.Field{system(&f.OS), hostname(&f.Hostname), sshKeys(&f.Keys), rootPassword(&f.Password)} {
		if slices.Contains(f.Act.Takes, each.Name) {
			set = append(set, each)
		}
	}
	if f.Act.IsGrave {
		set = append(set, field.Text("confirm", &f.Confirm).Required().Doc("The name of the machine, because its data are lost."))
	}
	return set
}

// Check adds what is wrong with the form of an act on a machine. The systems are those that
// its owner may choose.
func (f *MachineForm) Check(m *Machine, systems []string, wrong *field.Errors) {
	if f.Act.IsGrave && !wrong.Has("confirm") && f.Confirm != m.Name && (f.Confirm != m.Hostname || m.Hostname == "") {
		wrong.Add("confirm", NotTheName)
	}
	if f.OS != "" && f.OS != m.OS && !wrong.Has("os") && !slices.Contains(systems, f.OS) {
		wrong.Add("os", field.NotAChoice(f.OS))
	}
}

// NotTheName is the message for another name than the machine's.
const NotTheName = "Type the name of the machine."

// Apply makes a machine what the form and its act say. A refusal has a reason as its code.
func (f *MachineForm) Apply(m *Machine) error {
	if !f.Act.IsOpen(m.Rescue) {
		return &domain.Error{Code: domain.Conflict, Reason: "wrong_state", Message: "The machine does not stand so that this can be done."}
	}
	if f.OS != "" {
		m.OS = f.OS
	}
	if f.Sent.Has("hostname") {
		m.Hostname = f.Hostname
	}
	if f.Sent.Has("ssh_keys") {
		m.Keys = f.Keys
	}
	if f.Installs() {
		m.Password = f.Password
	}
	f.Act.does(m)
	Complete(m, Place{})
	return nil
}

// Installs tells whether the act makes the disk of a system's template.
func (f *MachineForm) Installs() bool { return slices.Contains(f.Act.Takes, "os") }

// PasswordLife is how long a password of root that the panel has made up waits to be shown.
const PasswordLife = 30 * 24 * time.Hour

// ShowPassword notes that a user is shown a password of root that the panel has made up.
type ShowPassword struct{ Ref }

// PasswordShown: a user, whom the event's cause names, was shown the password of root. It is
// destroyed.
type PasswordShown struct{}

func (PasswordShown) EventName() string { return "hosting.password_shown" }
func (PasswordShown) Says() string      { return "the password of root was shown" }

func (PasswordShown) evolve(r Resource) Resource { return r }

func (c ShowPassword) decide(r Resource) ([]Event, error) {
	if kind, _ := KindNamed(c.Kind); r.Status == "" || r.ended() || r.Trashed {
		return nil, kind.absent()
	}
	return []Event{PasswordShown{}}, nil
}

// ErrNoPassword refuses to show a password that is not there.
var ErrNoPassword = &domain.Error{Code: domain.Conflict, Reason: "no_password", Message: "There is no password to show."}
