//go:build system

package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"hostpanel/domain/hosting"
	"hostpanel/http/browsertest"
	"hostpanel/http/web"
	"hostpanel/paneltest"
)

// color is that of the middle of the screen.
const color = `(() => {
	const canvas = document.querySelector("#console-screen canvas");
	return [...canvas.getContext("2d").getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data].slice(0, 3).join();
})()`

// An owner sees the screen of a machine, types there, and leaves it with the keyboard.
func TestAnOwnerUsesTheConsoleOfAMachine(t *testing.T) {
	for language, words := range map[string]struct{ open, ended, off, suspended string }{
		"en": {"Connected.", "The screen has ended", "The screen cannot be shown now", "is suspended"},
		"es": {"Conectado.", "La pantalla ha terminado", "Ahora no se puede mostrar", "está suspendido"},
	} {
		t.Run(language, func(t *testing.T) {
			screens := paneltest.NewScreens(100)
			s := paneltest.Open(t).People(t)
			s.Server.Screens, s.Server.Settings.Heartbeat = screens, 50*time.Millisecond
			s.Start(t)
			service := s.Running(t, 1)
			s.Machined(t, 991, 1, service)
			s.Do(t, paneltest.Speaks(paneltest.Ben, language))
			p := browsertest.Open(t)
			p.Go(s.Public + "/healthz")
			p.Text(`document.cookie = "session=` + s.Visiting(t, paneltest.Ben).Cookies["session"] + `; path=/"`)
			p.Go(s.Public + web.ServicesPath + service.String() + "/")
			p.Click("a.button[href$='console/']")
			p.See(words.open)
			p.Until(color + ` === "128,64,32"`)
			p.Accessible("a console that is open, " + language)

			p.Click("#console-screen canvas")
			p.Keys("r")
			p.Until(color + ` !== "128,64,32"`)
			if key := <-screens.Keys; key != 'r' {
				t.Errorf("the machine got %#x", key)
			}
			p.Until(`document.activeElement.matches("#console-screen canvas")`)
			p.Text(`["Control", "Alt", "Shift"].forEach((key, i) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {
				key, code: key + "Left", ctrlKey: true, altKey: i > 0, shiftKey: i > 1, bubbles: true, cancelable: true })))`)
			p.Until(`document.activeElement.dataset.act === "keys"`)
			p.Keys(kb.Enter)
			pressed := map[uint32]bool{}
			for range 5 { // Ctrl and Alt that led out of the screen, then Ctrl+Alt+Del
				pressed[<-screens.Keys] = true
			}
			if !pressed[0xffff] {
				t.Errorf("Delete is not among %v", pressed)
			}
			p.Keys(kb.Tab + kb.Tab + kb.Tab)
			p.Until(`document.activeElement.matches("#console-screen canvas")`)

			p.Size(360, 740)
			p.Until(`document.documentElement.scrollWidth <= innerWidth &&
				document.querySelector("#console-screen canvas").clientWidth <= innerWidth`)
			p.Accessible("a narrow console, " + language)
			p.Size(1280, 900)

			screens.SwitchOff()
			p.See(words.ended)
			p.Until(`document.activeElement.dataset.act === "again"`)
			screens.Refuse(true)
			p.Click("[data-act=again]")
			p.See(words.off)
			screens.Refuse(false)
			p.Click("[data-act=again]")
			p.See(words.open)

			s.Do(t, hosting.Disable{Ref: hosting.Ref{Kind: "vm", ID: 991}, By: hosting.ByOrder})
			p.See(words.suspended)
			p.Accessible("a console that has ended, " + language)
			p.Go(s.Public + web.ServicesPath + service.String() + "/console/")
			p.See(words.suspended)
			p.Accessible("a console of a machine that is suspended, " + language)
			for said := range strings.Lines(p.Console()) { // noVNC notes itself that a screen could not be had
				if !strings.Contains(said, "code: 4502") {
					t.Errorf("the console of the browser says: %s", said)
				}
			}
			screens.Wait()
		})
	}
}

// Without JavaScript the page says what it needs.
func TestTheConsoleSaysThatItNeedsJavaScript(t *testing.T) {
	s := paneltest.Open(t).People(t)
	service := s.Running(t, 1)
	s.Machined(t, 991, 1, service)
	page := s.Visiting(t, paneltest.Ben).Get(web.ServicesPath + service.String() + "/console/")
	paneltest.Has(t, page.Body.String(), "<noscript><p", "JavaScript")
}
