//go:build system

package sandbox_test

import (
	"testing"

	"hostpanel/adapters/engine/enginetest"
)

func TestTheSandboxStandsTheCampaigns(t *testing.T) { enginetest.RunCampaigns(t, engineOf(pool(t))) }
