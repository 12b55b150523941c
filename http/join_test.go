package http_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/paneltest"
)

// joins places an order with the address of a user, and returns the path of its link.
func joins(t testing.TB, s *paneltest.Shop, user int64, email string) string {
	t.Helper()
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.VPSOrder(email)))
	return order.JoinPath + s.Joining(user, uuid.MustParse(a.ID)) + "/"
}
