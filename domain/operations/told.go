package operations

// Tells are the fields of an incident.
func (e IncidentReported) Tells() any {
	return struct {
		About map[string]string `json:"about"`
	}{e.About}
}
