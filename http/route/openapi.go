package route

// Document is the OpenAPI document of all routes.
func (t *Table) Document() map[string]any { return nil }
