package web

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/account"
)

func TestBothLanguagesSayTheSame(t *testing.T) {
	en, es := Texts[English], Texts["es"]
	if a, b := slices.Sorted(maps.Keys(en)), slices.Sorted(maps.Keys(es)); !slices.Equal(a, b) {
		t.Fatalf("%v\n%v", a, b)
	}
	for key := range en {
		if en[key] == "" || es[key] == "" {
			t.Errorf("%s says nothing", key)
		}
	}
	files, err := pageFiles.ReadDir(".")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, f := range files {
		page, err := pageFiles.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, used := range regexp.MustCompile(`Words\.(\w+)`).FindAllStringSubmatch(string(page), -1) {
			if en[used[1]] == "" {
				t.Errorf("%s uses the text %s, which is missing", f.Name(), used[1])
			}
		}
	}
}

func TestPagesSayWhatTheAPISaysInSpanish(t *testing.T) {
	for english, spanish := range map[string]string{
		"Ensure this field has no more than 200 characters.": "No puede tener más de 200 caracteres.",
		`"a \"b\" 7" is not a valid choice.`:                 `"a \"b\" 7" is not a valid choice.`,
		`"free" is not a valid choice.`:                      `"free" no es una opción válida.`,
		"Request was throttled. Expected available in 60 seconds.": "Demasiados intentos. Podrá volver a " +
			"intentarlo dentro de 60 segundos.",
		"Enter a valid color in the form #RRGGBB.":   "Escriba un color con la forma #RRGGBB.",
		"What nobody has translated stays as it is.": "What nobody has translated stays as it is.",
		"This password is too short. It must contain at least 8 characters.": "La contraseña es demasiado corta. " +
			"Debe tener al menos 8 caracteres.",
	} {
		if got := translated("es", []string{english})[0]; got != spanish {
			t.Errorf("%s: %s", english, got)
		}
	}
	for _, weak := range []string{"", strings.Repeat("x", 129), "password", "12345678901", "ana-ana-ana"} {
		err := account.CheckPassword(weak, "ana-ana@example.com")
		if err == nil || strings.Contains(
			translated("es", []string{strings.TrimPrefix(err.Error(), "password: ")})[0], "his password",
		) && !strings.Contains(err.Error(), ". ") {
			t.Errorf("%q: %v", weak, err)
		}
	}
}
