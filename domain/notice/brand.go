package notice

import (
	"strings"

	"hostpanel/domain/color"
)

// A Brand is whose letter it is, in the eyes of its reader
// (docs/white-label.md, "Mails"). The zero value is the panel's own.
type Brand struct {
	Name       string
	LogoURL    string // blank: the name stands in its place
	Color      string // "#RRGGBB", of what leads on; blank: the panel's own
	FooterText string // may have several lines
	FooterURL  string
}

// ownColor is that of letters without a brand.
const ownColor = "#4F46E5"

// plain is the brand without anything that looks like more than it is: a name
// on one line, lines without control characters, a color that is one.
func (b Brand) plain() Brand {
	b.Name, b.FooterURL = oneLine(b.Name), oneLine(b.FooterURL)
	if _, is := color.Luminance(b.Color); !is {
		b.Color = ownColor
	}
	var lines []string
	for line := range strings.Lines(b.FooterText) {
		if line = oneLine(line); line != "" {
			lines = append(lines, line)
		}
	}
	b.FooterText = strings.Join(lines, "\n")
	return b
}

// signature is how the brand ends a letter that has no colors.
func (b Brand) signature() (lines []string) {
	if b.Name != "" {
		lines = append(lines, b.Name)
	}
	if footer := b.Footer(); len(footer) > 0 || b.FooterURL != "" {
		lines = append(append(lines, "", "--"), footer...)
	}
	if b.FooterURL != "" {
		lines = append(lines, b.FooterURL)
	}
	return lines
}

// Footer is what stands below letters, line by line.
func (b Brand) Footer() []string {
	if b.FooterText == "" {
		return nil
	}
	return strings.Split(b.FooterText, "\n")
}

// Ink is the color of texts on the brand's own: white, or black where white
// could not be read. One of the two always can.
func (b Brand) Ink() string { return color.Ink(b.Color) }
