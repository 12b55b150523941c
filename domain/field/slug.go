package field

import (
	"strconv"
	"strings"
)

const slugMax = 100 // letters

// SlugOf is a name in the form in which it may stand in a URL: small letters,
// digits and single hyphens. It is empty where the name has none of those.
func SlugOf(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(unmarked.Replace(name)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := b.String()
	return strings.TrimSuffix(slug[:min(len(slug), slugMax)], "-")
}

// OwnSlug is the slug of a record whose name's own is taken: with its number
// behind.
func OwnSlug(name string, id int64) string {
	number := "-" + strconv.FormatInt(id, 10)
	slug := SlugOf(name)
	return strings.TrimPrefix(strings.TrimSuffix(slug[:min(len(slug), slugMax-len(number))], "-")+number, "-")
}

// unmarked spells the letters of our customers' languages without their marks.
var unmarked = strings.NewReplacer(
	"á", "a", "à", "a", "ä", "a", "â", "a", "ã", "a", "å", "a", "Á", "a", "À", "a", "Ä", "a", "Â", "a",
	"é", "e", "è", "e", "ë", "e", "ê", "e", "É", "e", "È", "e", "Ê", "e",
	"í", "i", "ì", "i", "ï", "i", "î", "i", "Í", "i",
	"ó", "o", "ò", "o", "ö", "o", "ô", "o", "õ", "o", "Ó", "o", "Ö", "o",
	"ú", "u", "ù", "u", "ü", "u", "û", "u", "Ú", "u", "Ü", "u",
	"ñ", "n", "Ñ", "n", "ç", "c", "Ç", "c", "ß", "ss",
)
