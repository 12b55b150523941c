package billing_test

import (
	"net/http"
	"strings"
	"testing"
)

// Who may add a payment method has to agree, and belongs to the tenant.
func TestAPaymentMethodIsAddedByAnAdministratorWhoAgrees(t *testing.T) {
	t.Parallel()
	s, _, _, _ := indebted(t)
	for _, c := range []struct {
		user, body string
		status     int
		says       string
	}{
		{"ben", `{"payment_method":"test","consent":true}`, http.StatusForbidden, "permission"},
		{"ana", `{"payment_method":"test"}`, http.StatusBadRequest, `{"consent":[`},
		{"ana", `{"payment_method":"test","consent":false}`, http.StatusBadRequest, `{"consent":[`},
		{"ana", `{"payment_method":"stripe","consent":true}`, http.StatusBadRequest, `{"payment_method":[`},
		{"ana", `{"consent":true}`, http.StatusBadRequest, `{"payment_method":[`},
		{"root", `{"payment_method":"test","consent":true}`, http.StatusBadRequest, "Only members of the tenant"},
		{"ana", `{"payment_method":"test","consent":true}`, http.StatusCreated, "/storefront/checkout/test/"},
	} {
		if w := bills(s, c.user, "payment-methods/", c.body); w.Code != c.status ||
			!strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s sends %s: %d %s", c.user, c.body, w.Code, w.Body)
		}
	}
}
