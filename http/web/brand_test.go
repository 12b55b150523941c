package web

import (
	"fmt"
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"hostpanel/domain/color"
	"hostpanel/domain/hosting"
)

var variables = regexp.MustCompile(`--([a-z-]+):(#[0-9A-Fa-f]{6})`)

// Whatever colors a tenant chooses, texts can be read on what is behind them, in both
// schemes.
func TestEveryBrandCanBeRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) string {
			return fmt.Sprintf("#%06X", rapid.IntRange(0, 0xffffff).Draw(t, name))
		}
		look := hosting.WhiteLabel{
			IsActive: true, PrimaryColor: draw("primary"), SecondaryColor: draw("secondary"),
			SidebarBGColor: draw("side"), SidebarColor: draw("ink"),
		}
		text, hash := ColorsOf(look)
		if again, same := ColorsOf(look); again != text || same != hash || len(hash) != 64 {
			t.Fatalf("%s\n%s", text, again)
		}
		all := variables.FindAllStringSubmatch(text, -1)
		light, dark := map[string]string{}, map[string]string{}
		for i, v := range all {
			if i < 8 {
				light[v[1]] = v[2]
			} else {
				dark[v[1]] = v[2]
			}
		}
		for _, s := range []struct {
			name   string
			of     map[string]string
			behind scheme
		}{{"light", light, lightScheme}, {"dark", dark, darkScheme}} {
			accent, over, tint, ink := s.of["accent"], s.of["accent-over"], s.of["tint"], s.of["on-accent"]
			for _, pair := range [][2]string{
				{accent, s.behind.card},
				{accent, s.behind.paper},
				{accent, tint},
				{over, s.behind.card},
				{over, s.behind.paper},
				{ink, accent},
				{ink, over},
			} {
				if color.Contrast(pair[0], pair[1]) < color.Readable {
					t.Fatalf("%s: %s on %s: %s", s.name, pair[0], pair[1], text)
				}
			}
		}
		for _, pair := range [][2]string{{light["side-ink"], light["side"]}, {light["on-second"], light["second"]}} {
			if color.Contrast(pair[0], pair[1]) < color.Readable {
				t.Fatalf("%s on %s: %s", pair[0], pair[1], text)
			}
		}
	})
}

// A color that can be read stays as it was chosen.
func TestABrandKeepsTheColorsThatCanBeRead(t *testing.T) {
	text, _ := ColorsOf(
		hosting.WhiteLabel{
			IsActive: true, PrimaryColor: "#14632F", SecondaryColor: "#10B981", SidebarBGColor: "#1F2937",
			SidebarColor: "#F9FAFB",
		},
	)
	for i, want := range []string{"#14632F", "#104F26"} {
		if got := variables.FindAllStringSubmatch(text, -1)[i][2]; got != want {
			t.Errorf("%s instead of %s: %s", got, want, text)
		}
	}
	if text, hash := ColorsOf(hosting.WhiteLabel{PrimaryColor: "#14632F"}); text != "" || hash != "" {
		t.Errorf("one that is switched off: %s", text)
	}
}

// What was made of a sheet is remembered, but not without bounds.
func TestSheetsAreRememberedWithinBounds(t *testing.T) {
	for i := range 3 * sheetsRemembered {
		text, hash := SheetOf(hosting.WhiteLabel{IsActive: true, CustomCSS: fmt.Sprintf("a{top:%dpx}", i)})
		if text != fmt.Sprintf(".wl-scope a{top:%dpx}\n", i) || hash != hashOf(text) {
			t.Fatalf("%s %s", text, hash)
		}
		if len(served.known) > sheetsRemembered {
			t.Fatalf("%d sheets", len(served.known))
		}
	}
}
