package notice

import (
	"math"
	"strconv"
	"strings"
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
	if _, is := luminance(b.Color); !is {
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

// readable is the ratio between the lightness of a text and of what is behind
// it that everybody can read (WCAG 2.1, 1.4.3).
const readable = 4.5

// Ink is the color of texts on the brand's own: white, or black where white
// could not be read. One of the two always can.
func (b Brand) Ink() string {
	behind, _ := luminance(b.Color)
	if 1.05/(behind+0.05) >= readable {
		return "#FFFFFF"
	}
	return "#000000"
}

// luminance is how light a color is, from 0 to 1; false: it is no color.
func luminance(color string) (lightness float64, is bool) {
	digits, is := strings.CutPrefix(color, "#")
	rgb, err := strconv.ParseUint(digits, 16, 24)
	if !is || err != nil || len(digits) != 6 {
		return 0, false
	}
	share := func(shift int) float64 { return linear(float64(rgb>>shift&0xff) / 0xff) }
	return 0.2126*share(16) + 0.7152*share(8) + 0.0722*share(0), true
}

// linear undoes the curve by which screens show a share of a color.
func linear(share float64) float64 {
	if share <= 0.04045 {
		return share / 12.92
	}
	return math.Pow((share+0.055)/1.055, 2.4)
}
