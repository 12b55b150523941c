//go:build system

package faults_test

import (
	"testing"

	"hostpanel/sagas/sagastest"
)

// The records are more than one reading of the bin has.
func TestATenantOfManyRecordsIsPurgedWithAllOfThem(t *testing.T) {
	t.Parallel()
	sagastest.Purge(t, 201)
}
