package web

import (
	"encoding/base64"
	"fmt"
	"html/template"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// A Picture is an image within a page, which the policy of pages allows.
type Picture = template.URL

// quiet is the width of the white border that readers of QR codes need.
const quiet = 4

// QR is the QR code of a text, as an SVG image: dark squares on white, in light
// and dark pages.
func QR(text string) (Picture, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return "", fmt.Errorf("draw a QR code: %w", err)
	}
	var squares strings.Builder
	side := code.Bounds().Dx()
	for y := range side {
		for x := range side {
			if code.At(x, y) == color.Black {
				fmt.Fprintf(&squares, "M%d %dh1v1h-1z", x+quiet, y+quiet)
			}
		}
	}
	svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" shape-rendering="crispEdges">`+
		`<path fill="#fff" d="M0 0h%[1]dv%[1]dH0z"/><path d="%[2]s"/></svg>`, side+2*quiet, squares.String())
	return Picture("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(svg))), nil //nolint:gosec // our own drawing
}
