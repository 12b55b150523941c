package paneltest

// ShownKey is the key that a page shows.
func (b *Browser) ShownKey() string {
	for _, in := range Elements(b.Page, "textarea") {
		if Attribute(in, "id") == "key" {
			return TextOf(in)
		}
	}
	return ""
}
