package paneltest

import (
	"os"

	"hostpanel/http/demo"
)

// WithDemo gives the panel the pages that only a demo has.
func WithDemo(s *Shop) {
	s.Server.Demo = &demo.Settings{
		Widget: WidgetOne, Letters: os.DirFS(s.Letters), Link: &demo.Link{},
		Operator: "olga@example.com", Customer: AnaMail,
	}
}
