//go:build system

package libvirt_test

import (
	"math/rand/v2"
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

// stride is how many calls there are from one lost answer to the next on QEMU, which takes
// seconds for each. The test driver loses all of them.
const stride = 12

func TestQEMUSurvivesLostAnswers(t *testing.T) {
	b, seed := onQEMU(t), rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 1))
	computetest.RunCampaigns(t, func(t *testing.T) computetest.Hypervisor {
		h := b.suite(t)
		h.Cut = func(n int) func() bool { return b.proxy.Cut((n-1)*stride + 1 + chance.IntN(4)) }
		return h
	})
}
