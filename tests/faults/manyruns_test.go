//go:build system

package faults_test

import (
	"testing"

	"hostpanel/sagas/sagastest"
)

func TestAThousandRunsStartInTwoAppends(t *testing.T) {
	t.Parallel()
	sagastest.ManyRuns(t, 500)
}
