//go:build system

package libvirt_test

import (
	"math/rand/v2"
	"testing"

	"hostpanel/adapters/compute/computetest"
	"hostpanel/adapters/compute/libvirt/libvirttest"
	"hostpanel/domain"
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
	t.Parallel()
	b := onQEMU(t)
	computetest.Run(t, b.suite)
}

func TestTheTestDriverSurvivesLostAnswers(t *testing.T) {
	t.Parallel()
	b := onTestDriver(t)
	computetest.RunCampaigns(t, b.suite)
}

// stride is how many calls there are from one lost answer to the next on QEMU, which takes
// seconds for each. The test driver loses all of them.
const stride = 20

func TestQEMUSurvivesLostAnswers(t *testing.T) {
	t.Parallel()
	b, seed := onQEMU(t), rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 1))
	computetest.RunCampaigns(t, func(t *testing.T) computetest.Hypervisor {
		h := b.suite(t)
		h.Hostname = nil // below, of machines that are off
		h.Cut = func(n int) func() bool { return b.proxy.Cut((n-1)*stride + 1 + chance.IntN(4)) }
		return h
	})
}

// What a machine is to be called reaches cloud-init as it was asked for, or nothing is made.
func TestHostileHostNamesReachCloudInitAsTheyAre(t *testing.T) {
	t.Parallel()
	b := onQEMU(t)
	h := open(t, b.driver, b.Socket())
	for _, text := range computetest.Hostile {
		m := machine("vm77")
		m.On, m.Hostname = false, text
		external, err := h.Create(t.Context(), m)
		if err != nil {
			fails(t, err, domain.Permanent, "refused")
			continue
		}
		if told := b.hostname(t, m); told != text {
			t.Errorf("%q was told as %q", text, told)
		}
		if err := h.Remove(t.Context(), external, m); err != nil {
			t.Fatal(err)
		}
	}
}
