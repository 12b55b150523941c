//go:build system

package browser_test

import (
	"net/http"
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

// A plan for virtual servers without a place cannot be chosen on another website. One with a
// place asks how the server is called and who may sign in.
func TestAServerWithoutAPlaceCannotBeChosenOnAnotherSite(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	s.Do(t, paneltest.Node(1, "alpha", func(n *hosting.Node) { n.MemoryMB = 1024 }))
	w := site(t, s)
	w.form(11, paneltest.WidgetOne, "cards", "en")
	p := w.page
	w.visit(`data-widget-id="`+paneltest.WidgetOne+`"`, "key", w.Known["key"])
	p.Click(`button[aria-label="Order now: VPS M"]`)
	p.Until(`deep("#hp-hostname") && deep("#hp-ssh_key")`)
	p.Accessible("the form of a server")
	s.Order(t, http.StatusCreated, paneltest.VPSOrder("ana@example.com"))
	w.visit(`data-widget-id="`+paneltest.WidgetOne+`"`, "key", w.Known["key"])
	p.Until(`deep("button[aria-label='Sold out: VPS M']")?.disabled`)
	p.Accessible("a plan that is sold out")
	w.clean()
}
