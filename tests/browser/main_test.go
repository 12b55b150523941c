//go:build system

package browser_test

import (
	"testing"

	"hostpanel/http/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }
