// Package texts holds what the panel says to people, in every language that it speaks.
// The texts are files: one per part of the panel and language, as go-i18n reads them
// (docs/adr/0030-go-i18n.md).
package texts

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
)

//go:embed *.json
var files embed.FS

// English is spoken to readers of a language that the panel does not speak.
const English = "en"

// A voice is one language of the panel.
type voice struct {
	localizer *i18n.Localizer
	texts     map[string]string // as they are written, by id
}

// voices are all languages of the panel. They are read once they are needed: most
// commands say nothing of it.
var voices = sync.OnceValue(loaded)

// loaded reads all files. A text that is missing in a language fails a test.
func loaded() map[string]voice {
	bundle, all := i18n.NewBundle(language.English), map[string]voice{}
	bundle.RegisterUnmarshalFunc("json", json.Unmarshal)
	names, err := files.ReadDir(".")
	for _, entry := range names {
		if err != nil {
			break
		}
		var read *i18n.MessageFile
		if read, err = bundle.LoadMessageFileFS(files, entry.Name()); err != nil {
			break
		}
		tag := read.Tag.String()
		v, known := all[tag]
		if !known {
			v = voice{i18n.NewLocalizer(bundle, tag), map[string]string{}}
		}
		for _, m := range read.Messages {
			v.texts[m.ID] = m.Other
		}
		all[tag] = v
	}
	if err != nil {
		panic(fmt.Sprintf("texts: read the texts: %v", err))
	}
	return all
}

// Spoken is the language of the panel for a reader of a given one: that of "es-MX" is
// "es". English serves all others.
func Spoken(wanted string) string {
	primary, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(wanted)), "-")
	if _, known := voices()[primary]; known {
		return primary
	}
	return English
}

// Languages are all languages of the panel, in order.
func Languages() []string { return slices.Sorted(maps.Keys(voices())) }

// Say is a text in a language, with its gaps filled: names and values take turns. An
// unknown text is empty.
func Say(wanted, id string, values ...string) string {
	gaps := make(map[string]string, len(values)/2)
	for pair := range slices.Chunk(values, 2) {
		gaps[pair[0]] = pair[1]
	}
	return localized(wanted, &i18n.LocalizeConfig{MessageID: id, TemplateData: gaps})
}

// Count is a text about a number of something, in the form that the number takes. Its
// gap is called n.
func Count(wanted, id string, n int) string {
	return localized(wanted, &i18n.LocalizeConfig{MessageID: id, PluralCount: n, TemplateData: map[string]int{"n": n}})
}

func localized(wanted string, what *i18n.LocalizeConfig) string {
	v := voices()[Spoken(wanted)]
	if _, has := v.texts[what.MessageID]; !has {
		return ""
	}
	text, err := v.localizer.Localize(what)
	if err != nil {
		panic(fmt.Sprintf("texts: the text %s: %v", what.MessageID, err)) // a test says each text
	}
	return text
}

// Part are the texts of a part of the panel by what follows the part's name in their
// ids. They have no gaps.
func Part(wanted, part string) map[string]string {
	all := map[string]string{}
	for id, text := range voices()[Spoken(wanted)].texts {
		if name, is := strings.CutPrefix(id, part+"."); is {
			all[name] = text
		}
	}
	return all
}
