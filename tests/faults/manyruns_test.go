//go:build system

package faults_test

import (
	"testing"

	"hostpanel/sagas/sagastest"
)

func TestAThousandRunsStartInTwoAppends(t *testing.T) {
	sagastest.ManyRuns(t, 500) // a crowd of its own: not in parallel with other stories
}
