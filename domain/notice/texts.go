package notice

import (
	"maps"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// A Text is what a notification says.
type Text struct {
	Template       string // by which it stands in the catalogue: "order_active"
	Language       string // "es" or "en"
	Type           Type
	Title, Message string
	URL            string // path within the panel
}

// ToOperators tells whether it is for those who operate the installation, and
// so in the panel's name.
func (t Text) ToOperators() bool {
	_, is := operators[t.Template]
	return is
}

// A phrase is a notification in one language.
type phrase struct{ title, message string }

// An entry is one thing that users are told: of which type it is, and what it
// says by language.
type entry struct {
	kind Type
	says map[string]phrase
}

// say is a notification in the words of the catalogue, in Spanish ("es",
// "es-MX") or else in English. The values follow the names of the gaps that
// they fill.
func say(template, language string, values ...string) Text {
	e := catalogue[template]
	words := inLanguage(e.says, language)
	return Text{
		Template: template, Language: shortOf(e.says, language), Type: e.kind, URL: pageOf(template),
		Title: words.title, Message: strings.NewReplacer(values...).Replace(words.message),
	}
}

// Where operators see what they are told of.
const (
	OrdersPath    = "/storefront/orders/"
	IncidentsPath = "/storefront/incidents/"
)

// OrderPage is the path of the page of an order, for operators.
func OrderPage(order uuid.UUID) string { return OrdersPath + order.String() + "/" }

// IncidentPage is the path of the page of an incident, for operators.
func IncidentPage(incident uuid.UUID) string { return IncidentsPath + incident.String() + "/" }

// pageOf is the path of the page about what a notification tells, where it is not known
// which order or incident it is: that of their list.
func pageOf(template string) string {
	_, ofOrder := toOperators[template]
	switch {
	case ofOrder:
		return OrdersPath
	case Text{Template: template}.ToOperators():
		return IncidentsPath
	}
	return "/"
}

// ofOrder leads to the page of an order, for operators.
func (t Text) ofOrder(order uuid.UUID) Text {
	t.URL = OrderPage(order)
	return t
}

// shortOf is the language that texts are there in: that of "es-MX" is "es".
// English serves all others.
func shortOf[T any](texts map[string]T, language string) string {
	short, _, _ := strings.Cut(language, "-")
	if _, ok := texts[short]; ok {
		return short
	}
	return "en"
}

// inLanguage picks the texts for "es", "es-MX", "en" …
func inLanguage[T any](texts map[string]T, language string) T {
	return texts[shortOf(texts, language)]
}

// A noun is what one, and what several of something are called: "{n} days".
type noun struct{ one, several string }

var days = map[string]noun{"en": {"{n} day", "{n} days"}, "es": {"{n} día", "{n} días"}}

// plural is a number of something, in the form that the language gives it. In
// both languages that there are, one alone stands apart; zero does not.
func plural(language string, n int, nouns map[string]noun) string {
	words := inLanguage(nouns, language)
	form := words.several
	if n == 1 {
		form = words.one
	}
	return strings.ReplaceAll(form, "{n}", strconv.Itoa(n))
}

// merged is one catalogue of several. No name stands in two of them.
func merged(parts ...map[string]entry) map[string]entry {
	all := map[string]entry{}
	for _, part := range parts {
		for name := range part {
			if _, twice := all[name]; twice {
				panic("notice: two texts are called " + name)
			}
		}
		maps.Copy(all, part)
	}
	return all
}
