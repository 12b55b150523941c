package paneltest

// LinkCalled is where a link of the page leads; "": there is none.
func (b *Browser) LinkCalled(text string) string {
	for _, a := range Elements(b.Page, "a") {
		if TextOf(a) == text {
			return Attribute(a, "href")
		}
	}
	return ""
}
