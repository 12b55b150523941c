// Package computetest is what the panel asks of every hypervisor, as tests: the tests of
// an adapter run them against it, and "hostpanel compute check" those of a hoster.
//
// The suite calls a hypervisor as the panel does. A call without an answer is followed by
// Find: what is found in part is created again, and what is not found is not removed.
// A volume that no machine has yet, or has no longer, is therefore found as a part.
package computetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/conformance"
	"hostpanel/domain/compute"
)

// A Hypervisor is one to try, and what the suite may do to it. What is nil is not tried.
type Hypervisor struct {
	compute.Hypervisor

	// Like is what every machine of the suite is like: its host, size, template and network.
	// A size of zero is one core, 256 MB and 1 GB.
	Like     compute.Machine
	Patience time.Duration // how long the hypervisor may take for a call that waits; 0: a minute
	Lacks    []string      // what it cannot do, of the names below: such calls are "not_supported"

	// Lose loses the answer to the next such call, which is carried out: "create", "change",
	// "remove", "snapshot" or "drop".
	Lose func(t conformance.T, call string)
	// Cut loses the answer to the nth network call from now on; the call is carried out.
	// cut ends that, and reports whether such a call came.
	Cut func(n int) (cut func() bool)

	// Left lists what the hypervisor has for machines: volumes, filters, snapshots. A check
	// has to leave as much as there was before.
	Left func(context.Context) ([]string, error)
	// Starts is how often a machine has been started, since any moment.
	Starts func(t conformance.T, m compute.Machine) int
	// Mark writes a mark to the disk of a stopped machine. Marked reports whether the disk has it.
	Mark   func(t conformance.T, m compute.Machine)
	Marked func(t conformance.T, m compute.Machine) bool
	// Hostname is what the system of a machine is told to be called.
	Hostname func(t conformance.T, m compute.Machine) string

	// Other is the same hypervisor, opened by another installation of the panel.
	Other compute.Hypervisor
	// Stranger makes a machine without the panel. remove takes it away.
	Stranger func(t conformance.T, name string) (remove func())
}

// What a hypervisor may lack.
const (
	ShuttingDown = "shutting down" // on request, before it is switched off
	Snapshots    = "snapshots"
	Rescue       = "rescue"
	Usage        = "usage"
	Screen       = "screen"
	Templates    = "templates" // it makes a disk of every name
)

// A check is one thing that the panel asks of a hypervisor, named in words.
type check struct {
	name  string
	test  func(*world)
	needs func(Hypervisor) string // why it cannot be tried, if so; nil: it always can
}

// campaigns are the checks that go through each cut and text in turn.
var campaigns = []string{
	"no lost answer doubles a machine, or leaves a part of one",
	"hostile names are refused before, or read back as they were sent",
	"hostile host names are refused before, or told as they were sent",
}

var checks = []check{
	{"a machine is made, found, listed and removed", life, nil},
	{"hosts are listed with their templates", hosts, nil},
	{"a machine is switched off and on again", switched, nil},
	{"a machine is asked to shut down", shutDown, can(ShuttingDown)},
	{"a machine that is made off stays off until it is to be on", madeOff, nil},
	{"a machine is started anew once for each number of its start", restarted, nil},
	{"a suspended machine comes back as it was", suspended, nil},
	{"a machine grows, and its disk never shrinks", resized, nil},
	{"a running machine is removed, and again", removedRunning, nil},
	{"a request that was overtaken is refused", overtaken, nil},
	{"a change of what is not there says so", absent, nil},
	{"a missing template is named before anything is made", templateless, can(Templates)},
	{"a creation that is repeated makes nothing", repeated, nil},
	{"twins at once are one", twins, nil},
	{"a name that another machine has is taken", nameTaken, nil},
	{"a machine with our name and another id is never touched", drift, nil},
	{"a machine of another installation is a stranger's", otherInstallation, elsewhere},
	{"a machine that was made without the panel is a stranger's", stranger, strange},
	{"a disk is made anew from its template once", reinstalled, marking},
	{"snapshots are taken, listed and dropped", snapshots, can(Snapshots)},
	{"a disk is restored from a snapshot once", restored, restoring},
	{"a machine starts the rescue system and comes back", rescued, can(Rescue)},
	{"usage never falls within its epoch", usage, can(Usage)},
	{"the screen of a running machine speaks RFB", screen, can(Screen)},
	{"what the hypervisor lacks is not supported", unsupported, nil},
	{"what was done without an answer is done once", lost, losing},
	{"no lost answer doubles a machine, or leaves a part of one", cuts, cutting},
	{"hostile names are refused before, or read back as they were sent", hostileNames, nil},
	{"hostile host names are refused before, or told as they were sent", hostileHostnames, telling},
}

func can(what string) func(Hypervisor) string {
	return func(h Hypervisor) string { return missing(h.lacks(what), "it lacks "+what) }
}

func losing(h Hypervisor) string  { return missing(h.Lose == nil, "answers cannot be lost here") }
func cutting(h Hypervisor) string { return missing(h.Cut == nil, "answers cannot be lost here") }
func marking(h Hypervisor) string { return missing(h.Mark == nil, "disks cannot be read here") }
func telling(h Hypervisor) string {
	return missing(h.Hostname == nil, "what a system is told cannot be read here")
}

func elsewhere(h Hypervisor) string { return missing(h.Other == nil, "there is no other installation") }

func strange(h Hypervisor) string {
	return missing(h.Stranger == nil, "machines can be made by the panel alone here")
}

func restoring(h Hypervisor) string {
	if why := can(Snapshots)(h); why != "" {
		return why
	}
	return marking(h)
}

func missing(is bool, why string) string {
	if is {
		return why
	}
	return ""
}

func (h Hypervisor) lacks(what string) bool { return slices.Contains(h.Lacks, what) }

// Run tries a hypervisor in all but its campaigns. open starts an empty one for each test.
func Run(t *testing.T, open func(t *testing.T) Hypervisor) { run(t, open, false) }

// RunCampaigns tries a hypervisor in what takes long: each lost answer and hostile text in turn.
func RunCampaigns(t *testing.T, open func(t *testing.T) Hypervisor) { run(t, open, true) }

func run(t *testing.T, open func(t *testing.T) Hypervisor, campaign bool) {
	t.Helper()
	tag := conformance.NewTag()
	for _, c := range checks {
		if slices.Contains(campaigns, c.name) != campaign {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			h := open(t)
			if c.needs != nil && c.needs(h) != "" {
				t.Skip(c.needs(h)) // the hypervisor's adapter names what it lacks, and why
			}
			before, err := h.left(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { // also after a failure
				quiet := conformance.Quietly(context.WithoutCancel(t.Context()))
				if left := newWorld(quiet, h, tag).clean(before); len(left) > 0 {
					t.Errorf("not taken away again: %s", strings.Join(left, "; "))
				}
			})
			c.test(newWorld(t, h, tag))
		})
	}
}

func (h Hypervisor) left(ctx context.Context) ([]string, error) {
	if h.Left == nil {
		return nil, nil
	}
	return h.Left(ctx)
}
