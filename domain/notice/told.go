package notice

import (
	"encoding/json"
	"maps"
)

// told is what a notification tells its user.
type told struct {
	Type    Type   `json:"type"`
	Title   string `json:"title"`
	Message string `json:"message"`
	URL     string `json:"url"`
}

// Tells are the fields of a notification in the panel.
func (e Raised) Tells() any { return told{e.Type, e.Title, e.Message, e.URL} }

// Tells are the fields of a notification by mail.
func (e MailRequested) Tells() any { return told{e.Type, e.Title, e.Message, e.URL} }

// Shows completes the fields of preferences.
func (s PreferencesState) Shows(record map[string]json.RawMessage) {
	delete(record, "set")
	p := s.Preferences()
	maps.Copy(record, p.Fields().Values())
}
