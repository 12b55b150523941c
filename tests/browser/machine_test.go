//go:build system

package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"hostpanel/adapters/compute/sandbox"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/http/browsertest"
	"hostpanel/paneltest"
)

// does opens an act on the page of a machine and goes to a field or the button of it.
func (w walker) does(act, field string) {
	w.t.Helper()
	form := `details:has(input[name=form][value=machine_` + act + `]) `
	w.to(form + "summary")
	w.Keys(kb.Enter)
	w.Until(`document.querySelector("` + form + `").open`)
	w.to(form + field)
}

// presses types a text and presses Enter, which leads to a page that says something.
func (w walker) presses(text, says string) {
	w.t.Helper()
	w.Text(`window.isOld = true`)
	w.Keys(text + kb.Enter)
	w.See(says)
	w.Until(`document.readyState === "complete" && !window.isOld`)
}

// An owner finds a machine in the menu, restarts it and installs it anew with the keyboard
// alone. Another name than the machine's installs nothing.
func TestAnOwnerRestartsAndReinstallsAMachineWithTheKeyboardAlone(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	s.PastPeople(t)
	a := paneltest.Read(t, s.OrdersInto(t, "ana", http.StatusCreated, `{"plan_id":2,"payment_method":"test","os_choice":"ubuntu-24"}`))
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	id := int64(s.Count(t, `select id from resources where kind = 'vm' and present`))
	vm := compute.Machine{ID: compute.ID("", a.ID), Name: hosting.MachineName(id), Service: a.ID}
	made := func(boot, disk int64) {
		t.Helper()
		paneltest.WaitFor(t, func() bool {
			seen, is, err := sandbox.New(s.Owner).Find(t.Context(), vm)
			return err == nil && is && seen.State == compute.Running && seen.Boot == boot && seen.Disk == disk
		})
	}
	made(1, 1)
	page, restarts, disks := strings.TrimSuffix(hosting.RecordPage("vms", id), "/"), int64(1), int64(1)
	for language, words := range map[string]struct{ restarts, confirm, refused, installs, shown, again string }{
		"en": {
			"The server restarts.", "Name of the server", "Type the name of the machine.", "The system is being installed.",
			"It is not shown again.", "Sign in with the password of root.",
		},
		"es": {
			"El servidor se reinicia.", "Nombre del servidor a instalar", "Escriba el nombre del servidor.",
			"El sistema se está instalando.", "No se vuelve a mostrar.", "Entre con la contraseña de root.",
		},
	} {
		s.Do(t, paneltest.Speaks(paneltest.Ana, language))
		p := browsertest.Open(t)
		w := walker{p, t}
		p.Go(s.Public + "/healthz")
		p.Text(`document.cookie = "session=` + s.Visiting(t, paneltest.Ana).Cookies["session"] + `; path=/"`)
		p.Go(s.Public + "/panel/")
		w.skips()
		w.follows(`main a[href="/panel/vms/"]`, "/panel/vms/")
		w.skips()
		w.follows(`main a[href^="/panel/vms/"]`, page+"/")
		p.Accessible("the page of a machine, " + language)

		w.skips()
		w.does("restart", "button")
		w.presses("", words.restarts)
		restarts++
		made(restarts, disks)

		w.skips()
		w.does("reinstall", "input[name=confirm]")
		w.presses("another", words.refused)
		p.Until(`focused().matches(".alert")`)
		p.Accessible("an installation that was refused, " + language)
		if wrong := p.Text(`document.querySelector(".alert a").innerText`); wrong != words.confirm {
			t.Errorf("the refusal is about %q", wrong)
		}
		w.to("#machine_reinstall-confirm")
		p.Text(`focused().select()`)
		w.presses(vm.Name, words.installs)
		disks++
		made(restarts, disks)

		w.skips()
		w.to(`pre.code ~ button.copy, button.copy:has(~ pre.code)`)
		w.to(`form:has(input[name=form][value=machine_password]) button`)
		w.presses("", words.shown)
		p.Accessible("a password that is shown once, " + language)
		w.skips()
		w.to("textarea.secret")
		w.follows("main a.button", page+"/")
		p.See(words.again)
	}
}
