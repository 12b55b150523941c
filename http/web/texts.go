package web

import (
	"cmp"
	"maps"
	"regexp"

	"hostpanel/domain/texts"
)

// Words are what the pages say in one language.
type Words map[string]string

// English is the language of pages without another.
const English = "en"

// Texts are the languages of the panel. Each says the same.
var Texts = pageTexts()

func pageTexts() map[string]Words {
	all := map[string]Words{}
	for _, language := range texts.Languages() {
		words := Words(texts.Part(language, "page"))
		maps.Copy(words, kindNames(language))
		all[language] = words
	}
	return all
}

// The API speaks English. What it says about fields, forms say in the
// reader's language, as far as that is known here.

var quantity = regexp.MustCompile(`"[^"]*"|[0-9]+`)

// messagesForPeople are messages whose words in the API are meant for programs.
var messagesForPeople = map[string]string{
	"No active account found with the given credentials": "The user name or the password is wrong.",
}

// Translated is a message of the API in a language of the panel.
func Translated(language, message string) string {
	return translated(language, []string{message})[0]
}

// translated are messages of the API in a language of the panel.
func translated(language string, messages []string) []string {
	all := make([]string, len(messages))
	for i, message := range messages {
		if all[i] = message; language == English {
			all[i] = cmp.Or(messagesForPeople[message], message)
		} else if pattern, known := inSpanishOf(quantity.ReplaceAllString(message, "#")); known {
			all[i] = filledIn(pattern, quantity.FindAllString(message, -1))
		}
	}
	return all
}

// inSpanishOf is the Spanish form of a message.
func inSpanishOf(message string) (pattern string, known bool) {
	if pattern, known = messagesInSpanish[message]; !known {
		pattern, known = hostingInSpanish[message]
	}
	return pattern, known
}

var gap = regexp.MustCompile("#")

// filledIn puts the quantities of a message into its translation.
func filledIn(pattern string, quantities []string) string {
	return gap.ReplaceAllStringFunc(pattern, func(string) string {
		if len(quantities) == 0 { // the message has a # of its own
			return "#"
		}
		first := quantities[0]
		quantities = quantities[1:]
		return first
	})
}
