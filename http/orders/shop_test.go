package orders_test

import (
	"hostpanel/paneltest"
)

// loseDatabase makes the database unavailable for the rest of the test.
func loseDatabase(s *paneltest.Shop) {
	s.Pool().Close()
	s.Readers.Close()
}
