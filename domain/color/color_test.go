package color_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"hostpanel/domain/color"
)

func TestContrastIsThatOfTheStandard(t *testing.T) {
	for _, one := range []struct {
		a, b string
		want string
	}{
		{color.White, color.Black, "21.00"},
		{"#777777", color.White, "4.48"},
		{"#4F46E5", color.White, "6.29"},
		{"red", color.Black, "1.00"},
		{"#12345", color.Black, "1.00"},
	} {
		if got := fmt.Sprintf("%.2f", color.Contrast(one.a, one.b)); got != one.want {
			t.Errorf("%s on %s: %s, not %s", one.a, one.b, got, one.want)
		}
	}
	if mixed := color.Mix("#000000", "#FF8000", 0.5); mixed != "#804000" {
		t.Error(mixed)
	}
}

func TestThereIsAnInkForEveryColor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		behind := fmt.Sprintf("#%06x", rapid.IntRange(0, 0xffffff).Draw(t, "color"))
		if color.Contrast(color.Ink(behind), behind) < color.Readable {
			t.Fatalf("%s on %s", color.Ink(behind), behind)
		}
	})
}
