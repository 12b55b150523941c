package tax

import (
	"regexp"
	"strings"
)

// A form is how the VAT identification numbers of a country look.
type form struct {
	prefix, pattern string // pattern is of what follows the prefix
	example         string
}

// forms are those of the member states, by ISO 3166, as the European Commission describes
// them for VIES (https://ec.europa.eu/taxation_customs/vies/, "FAQ"). Check
// digits are not looked at: a number that was never given out can have good ones.
var forms = map[string]form{
	"AT": {"AT", `U\d{8}`, "ATU12345678"},
	"BE": {"BE", `[01]\d{9}`, "BE0123456789"},
	"BG": {"BG", `\d{9,10}`, "BG123456789"},
	"CY": {"CY", `\d{8}[A-Z]`, "CY12345678X"},
	"CZ": {"CZ", `\d{8,10}`, "CZ12345678"},
	"DE": {"DE", `\d{9}`, "DE123456789"},
	"DK": {"DK", `\d{8}`, "DK12345678"},
	"EE": {"EE", `\d{9}`, "EE123456789"},
	"ES": {"ES", `[A-Z]\d{7}[A-Z0-9]|\d{8}[A-Z]`, "ESB12345678"},
	"FI": {"FI", `\d{8}`, "FI12345678"},
	"FR": {"FR", `[A-HJ-NP-Z0-9]{2}\d{9}`, "FR12345678901"},
	"GR": {"EL", `\d{9}`, "EL123456789"},
	"HR": {"HR", `\d{11}`, "HR12345678901"},
	"HU": {"HU", `\d{8}`, "HU12345678"},
	"IE": {"IE", `\d{7}[A-W][A-IW]?|\d[A-Z]\d{5}[A-W]`, "IE1234567T"},
	"IT": {"IT", `\d{11}`, "IT12345678901"},
	"LT": {"LT", `\d{9}|\d{12}`, "LT123456789"},
	"LU": {"LU", `\d{8}`, "LU12345678"},
	"LV": {"LV", `\d{11}`, "LV12345678901"},
	"MT": {"MT", `\d{8}`, "MT12345678"},
	"NL": {"NL", `\d{9}B\d{2}`, "NL123456789B01"},
	"PL": {"PL", `\d{10}`, "PL1234567890"},
	"PT": {"PT", `\d{9}`, "PT123456789"},
	"RO": {"RO", `\d{2,10}`, "RO12345678"},
	"SE": {"SE", `\d{12}`, "SE123456789012"},
	"SI": {"SI", `\d{8}`, "SI12345678"},
	"SK": {"SK", `\d{10}`, "SK1234567890"},
}

var patterns = compiled()

func compiled() map[string]*regexp.Regexp {
	all := make(map[string]*regexp.Regexp, len(forms))
	for country, f := range forms {
		all[country] = regexp.MustCompile(`^` + f.prefix + `(?:` + f.pattern + `)$`)
	}
	return all
}

var separators = strings.NewReplacer(" ", "", ".", "", "-", "")

// IsVATID tells whether an id has the form of a VAT identification number of a member
// state, with its prefix. Blanks, dots and dashes do not count. One of Northern Ireland (XI)
// is none: it is for goods alone.
func IsVATID(country, id string) bool {
	pattern := patterns[country]
	return pattern != nil && pattern.MatchString(strings.ToUpper(separators.Replace(id)))
}

// ExampleID shows the form of a country's VAT identification numbers; "": it has none here.
func ExampleID(country string) string { return forms[country].example }
