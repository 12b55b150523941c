package texts

import (
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"
)

func TestAllLanguagesSayTheSameWithTheSameGaps(t *testing.T) {
	gap := regexp.MustCompile(`\{\{[^}]*\}\}`)
	gaps := func(text string) []string { return slices.Sorted(slices.Values(gap.FindAllString(text, -1))) }
	english := voices()[English].texts
	for language, v := range voices() {
		if a, b := slices.Sorted(maps.Keys(english)), slices.Sorted(maps.Keys(v.texts)); !slices.Equal(a, b) {
			t.Fatalf("%s has other texts than English:\n%v\n%v", language, b, a)
		}
		for id, text := range v.texts {
			if text == "" || id != "days" && Say(language, id) == "" {
				t.Errorf("%s says nothing in %s", id, language)
			}
			if !slices.Equal(gaps(text), gaps(english[id])) {
				t.Errorf("%s has other gaps in %s: %q, %q", id, language, text, english[id])
			}
		}
	}
	if len(voices()) < 2 || len(english) < 100 {
		t.Errorf("%d languages, %d texts", len(voices()), len(english))
	}
}

func TestTextsAreSaidInTheLanguageOfTheReader(t *testing.T) {
	for _, one := range []struct{ got, want string }{
		{
			Say("es-MX", "orders.message.failed", "step", "su sitio web"),
			"La puesta en marcha se interrumpió en este paso: su sitio web. Nuestro equipo ya está avisado; no tiene que volver a pagar.",
		},
		{Say("de", "letter.hello_name", "name", "<Ana & {{.step}}>"), "Hello <Ana & {{.step}}>,"},
		{Say("en", "no.such.text"), ""},
		{Count("en", "days", 1), "1 day"},
		{Count("en", "days", 14), "14 days"},
		{Count("es", "days", 1), "1 día"},
		{Count("es", "days", 0), "0 días"},
	} {
		if one.got != one.want {
			t.Errorf("%q instead of %q", one.got, one.want)
		}
	}
}

func TestAmountsAndTimesAreWrittenAsInTheLanguage(t *testing.T) {
	at := time.Date(2026, 9, 3, 15, 4, 5, 0, time.FixedZone("CEST", 7200))
	for _, one := range []struct{ got, want string }{
		{Money("es", decimal.RequireFromString("28.70"), "EUR"), "28,70\u00a0€"},
		{Money("en", decimal.RequireFromString("28.70"), "eur"), "€28.70"},
		{Money("en", decimal.RequireFromString("9.995"), "EUR"), "€10.00"}, // as it is charged
		{Money("es", decimal.RequireFromString("1.005"), "EUR"), "1,01\u00a0€"},
		{Money("es", decimal.RequireFromString("1234.5"), "USD"), "1234,50\u00a0$"},
		{Money("es", decimal.RequireFromString("12345.6"), "EUR"), "12.345,60\u00a0€"},
		{Money("en", decimal.RequireFromString("-1234567.891"), "USD"), "-$1,234,567.89"},
		{Money("en", decimal.RequireFromString("5"), "CHF"), "CHF\u00a05.00"},
		{Money("es", decimal.RequireFromString("5"), "CHF"), "5,00\u00a0CHF"},
		{Money("es", decimal.RequireFromString("1500"), "JPY"), "1500\u00a0¥"},
		{Money("en", decimal.RequireFromString("123456789012345678.25"), "USD"), "$123456789012345678.25"},
		{Exact("en", decimal.RequireFromString("909.09"), "JPY"), "¥909.09"},
		{Exact("en", decimal.RequireFromString("909.00"), "JPY"), "¥909"},
		{Exact("es", decimal.RequireFromString("28.7"), "EUR"), "28,70\u00a0€"},
		{Percent("es", decimal.RequireFromString("5.50")), "5,5\u00a0%"},
		{Percent("en", decimal.RequireFromString("21")), "21%"},
		{Minute("es", at), "3 sept 2026, 15:04 CEST"},
		{Second("en", at.UTC()), "3 Sep 2026, 13:04:05 UTC"},
		{Date("pt-BR", at), "3 Sep 2026"},
	} {
		if one.got != one.want {
			t.Errorf("%q instead of %q", one.got, one.want)
		}
	}
}
