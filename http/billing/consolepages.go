package billing

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"hostpanel/domain/hosting"
	"hostpanel/domain/texts"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

const consolePage = "console/" // below that of a service

// pages are the consoles in a browser.
func (s *consoles) pages() []route.Route {
	return []route.Route{
		web.View(web.ServicesPath+"{id:uuid}/"+consolePage, "The console of a virtual server", s.page).
			As("service_console_page").Of("Service").For(caller.WritingSession(s.callers)),
	}
}

// page shows the screen of a machine, or why there is none.
func (s *consoles) page(ctx context.Context, c route.Call) (*route.Document, error) {
	w, language := web.Texts[web.Readers(c)], web.Readers(c)
	d, err := s.services.service(ctx, c)
	if err != nil {
		return nil, err
	}
	if d.machine == nil {
		return nil, route.Missing("VM")
	}
	var m hosting.Machine
	if err := d.machine.Load(&m); err != nil {
		return nil, err
	}
	said, err := json.Marshal(consoleTexts(w))
	if err != nil {
		return nil, err
	}
	refusal := ""
	if _, err := s.machine(ctx, s.callers.Scope(c), c); err != nil {
		if !errors.Is(closing(err), suspended) {
			return nil, err
		}
		refusal = w["console_said_4403"]
	}
	back := web.ServicesPath + d.OrderID.String() + "/"
	return s.web.Sheet(c, http.StatusOK, "console", "", map[string]any{
		"Title": texts.Say(language, "page.console_title", "name", m.Name), "Back": back, "Refusal": refusal, "Wide": true,
		"Tickets": servicesPath + d.OrderID.String() + "/vm/console/", "Texts": string(said),
	})
}

// consoleTexts are the texts of the script, by the codes of sockets and refusals.
func consoleTexts(w web.Words) map[string]string {
	said := map[string]string{}
	for name, text := range w {
		if key, is := strings.CutPrefix(name, "console_said_"); is {
			said[key] = text
		}
	}
	return said
}
