// Package color computes with colors of the form #RRGGBB: how light they are, and which of
// them can be read on which.
package color

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Readable is the least contrast between a text and what is behind it that all people can
// read (WCAG 2.1, 1.4.3).
const Readable = 4.5

// The ends of the scale.
const (
	Black = "#000000"
	White = "#FFFFFF"
)

// channels are red, green and blue, from 0 to 255; false: the text is no color.
func channels(color string) (rgb [3]float64, is bool) {
	digits, is := strings.CutPrefix(color, "#")
	n, err := strconv.ParseUint(digits, 16, 24)
	if !is || err != nil || len(digits) != 6 {
		return rgb, false
	}
	return [3]float64{float64(n >> 16 & 0xff), float64(n >> 8 & 0xff), float64(n & 0xff)}, true
}

// Luminance is how light a color is, from 0 to 1; false: it is no color.
func Luminance(color string) (lightness float64, is bool) {
	rgb, is := channels(color)
	if !is {
		return 0, false
	}
	return 0.2126*linear(rgb[0]/0xff) + 0.7152*linear(rgb[1]/0xff) + 0.0722*linear(rgb[2]/0xff), true
}

// linear undoes the curve by which screens show a share of a color.
func linear(share float64) float64 {
	if share <= 0.04045 {
		return share / 12.92
	}
	return math.Pow((share+0.055)/1.055, 2.4)
}

// Contrast is the ratio between the lightness of two colors, from 1 to 21. What is no color
// counts as black.
func Contrast(a, b string) float64 {
	x, _ := Luminance(a)
	y, _ := Luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Ink is the color of texts on another color: white, or black where white could not be
// read. One of the two always can.
func Ink(behind string) string {
	if Contrast(White, behind) >= Readable {
		return White
	}
	return Black
}

// Mix is a color with a share of another one, from 0 to 1.
func Mix(color, other string, share float64) string {
	a, _ := channels(color)
	b, _ := channels(other)
	var mixed [3]int
	for i := range mixed {
		mixed[i] = int(math.Round(a[i]*(1-share) + b[i]*share))
	}
	return fmt.Sprintf("#%02X%02X%02X", mixed[0], mixed[1], mixed[2])
}
