//go:build system

package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/http/browsertest"
	"hostpanel/paneltest"
)

// In a browser, the page shows what comes of the order without a click: the payment,
// the setup and its end.
func TestABrowserOnThePageAfterThePaymentSeesTheOrderBecomeActive(t *testing.T) {
	t.Parallel()
	p := browsertest.Open(t)
	s := paneltest.Open(t).Stock(t).Start(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated,
		strings.Replace(paneltest.HostingOrder, "{", `{"language":"en","domain":"goes.example",`, 1)))
	p.Go(s.Public + "/storefront/return/" + a.ID + "/?outcome=success")
	p.Until(`document.querySelector("[role=status]") && [...document.links].some((a) => a.textContent === "Pay")`)
	s.Press(a, "action", "pay")
	p.Until(`[...document.links].some((a) => a.textContent === "Open the control panel")`)
	if said := p.Console(); said != "" {
		t.Errorf("the console says: %s", said)
	}
}
