package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"hostpanel/domain/color"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/css"
	"hostpanel/http/route"
)

// A brand is how pages look to the users of a tenant (docs/white-label.md, "The panel").
// Colors and the tenant's own sheet are files, because the policy of pages forbids style
// within them.
type brand struct {
	Name, Logo, Favicon string
	Colors              string // path of the sheet with the colors
	Sheet               string // path of the tenant's own sheet; blank: none on this page
	Footer              []string
	FooterURL           string
}

// sheetsFolder is where the sheets of a configuration stand.
const sheetsFolder = "/panel/whitelabel/%d/"

// brandOf is that of a page for the user; nil: the panel's own.
func brandOf(c route.Call) *brand {
	v := caller.VisitOf(c)
	if v.Look == nil {
		return nil
	}
	look, folder := v.Look.WhiteLabel, fmt.Sprintf(sheetsFolder, v.Look.ID)
	b := &brand{Name: look.BrandName, Logo: look.LogoURL, Favicon: look.FaviconURL, FooterURL: look.FooterURL}
	if look.FooterText != "" {
		b.Footer = strings.Split(look.FooterText, "\n")
	}
	_, hash := ColorsOf(look)
	b.Colors = folder + "colors/" + hash + ".css"
	if _, hash := SheetOf(look); hash != "" && takesSheets(c.Path) {
		b.Sheet = folder + hash + ".css"
	}
	return b
}

// takesSheets tells whether a page may look as a tenant's own sheet says. Pages on which
// people prove who they are never do.
func takesSheets(path string) bool {
	return strings.HasPrefix(path, PanelPath) || strings.HasPrefix(path, InvoicesPath) || path == NotificationsPath
}

// images are the origins from which the brand's pictures come.
func (b *brand) images() (origins []string) {
	for _, picture := range []string{b.Logo, b.Favicon} {
		if u, err := url.Parse(picture); err == nil && u.Host != "" {
			origins = append(origins, u.Scheme+"://"+u.Host)
		}
	}
	return origins
}

// served remembers what the check has made of sheets: it takes long, and the sheet of a
// tenant is the same on each page.
var served = &memory{known: map[[sha256.Size]byte]sheet{}}

const sheetsRemembered = 100

type sheet struct{ text, hash string }

type memory struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]sheet
}

// SheetOf is the style sheet of a configuration as it is served, and its hash. Both are
// blank if it has none, is switched off, or holds what is not allowed any more.
func SheetOf(look hosting.WhiteLabel) (text, hash string) {
	if !look.IsActive || look.CustomCSS == "" {
		return "", ""
	}
	key := sha256.Sum256([]byte(look.CustomCSS))
	served.mu.Lock()
	defer served.mu.Unlock()
	known, is := served.known[key]
	if !is {
		if known.text, _ = css.Scoped(look.CustomCSS); known.text != "" {
			known.hash = hashOf(known.text)
		}
		if len(served.known) >= sheetsRemembered {
			clear(served.known)
		}
		served.known[key] = known
	}
	return known.text, known.hash
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// A scheme is what the panel's own sheet has behind its texts, light or dark.
type scheme struct {
	card, paper string
	goal        string  // towards which a color is moved until it can be read
	tint        float64 // share of the color in what is highlighted
}

var (
	lightScheme = scheme{"#FFFFFF", "#F5F6F9", color.Black, 0.09}
	darkScheme  = scheme{"#1B1E27", "#12141A", color.White, 0.2}
)

// ColorsOf is the sheet with the colors of a configuration, and its hash. Colors that could
// not be read are moved until they can.
func ColorsOf(look hosting.WhiteLabel) (text, hash string) {
	if !look.IsActive {
		return "", ""
	}
	side, ink := look.SidebarBGColor, look.SidebarColor
	if color.Contrast(side, ink) < color.Readable {
		ink = color.Ink(side)
	}
	text = fmt.Sprintf(":root{%s;--side:%s;--side-ink:%s;--second:%s;--on-second:%s}\n@media (prefers-color-scheme:dark){:root{%s}}\n",
		lightScheme.accents(look.PrimaryColor), side, ink, look.SecondaryColor, color.Ink(look.SecondaryColor),
		darkScheme.accents(look.PrimaryColor))
	return text, hashOf(text)
}

// accents are the variables of the panel's sheet that follow from one color.
func (s scheme) accents(primary string) string {
	accent, tint := s.readable(primary)
	return fmt.Sprintf(
		"--accent:%s;--accent-over:%s;--on-accent:%s;--tint:%s", accent, color.Mix(accent, s.goal, 0.2),
		s.inkOn(accent), tint,
	)
}

// readable is the color nearest to one that can be read on all that the scheme puts behind
// it, with what is behind it where it is highlighted.
func (s scheme) readable(primary string) (accent, tint string) {
	const steps = 20
	for i := range steps + 1 {
		accent = color.Mix(primary, s.goal, float64(i)/steps)
		tint = color.Mix(s.card, accent, s.tint)
		if min(color.Contrast(accent, s.card), color.Contrast(accent, s.paper), color.Contrast(accent, tint)) >= color.Readable {
			break
		}
	}
	return accent, tint
}

// inkOn is the color of texts on the accent, whether or not the pointer is over it.
func (s scheme) inkOn(accent string) string {
	if s.goal == color.Black {
		return color.White // the accent can be read on white
	}
	return color.Ink(accent)
}
