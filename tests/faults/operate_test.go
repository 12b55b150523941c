//go:build system

package faults_test

import (
	"testing"

	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

func TestAWorkerMayDieWhileATurnedRunTakesBack(t *testing.T) { // F-2
	t.Parallel()
	for _, at := range []sagas.Point{
		sagas.BeforeIntent, sagas.AfterIntent, sagas.Sent, sagas.Answered, sagas.BeforeComplete, sagas.AfterComplete,
	} {
		sagastest.TurnedRun(t, at)
	}
}
