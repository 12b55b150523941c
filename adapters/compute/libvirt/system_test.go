//go:build system

package libvirt_test

import (
	"testing"

	"hostpanel/adapters/compute/computetest"
	"hostpanel/adapters/compute/libvirt/libvirttest"
)

func onQEMU(t *testing.T) *bench {
	t.Helper()
	libvirttest.Need(t, "qemu-io")
	b := newBench(t, libvirttest.Start(t), "qemu")
	b.EmptyTemplate(t, "empty.qcow2")
	b.EmptyTemplate(t, "rescue.qcow2")
	return b
}

func TestQEMUKeepsTheContract(t *testing.T) {
	b := onQEMU(t)
	computetest.Run(t, b.suite)
}

func TestTheTestDriverSurvivesLostAnswers(t *testing.T) {
	b := onTestDriver(t)
	computetest.RunCampaigns(t, b.suite)
}

func TestQEMUSurvivesLostAnswers(t *testing.T) {
	b := onQEMU(t)
	computetest.RunCampaigns(t, b.suite)
}
