package ispconfig

import (
	"fmt"
	"strings"

	"hostpanel/domain/dns"
)

// The engine writes the data of a TXT record into the zone file between two
// quotes, as it is stored. Data of more than 255 bytes is cut at each multiple of
// 255, with `" "` at the cut.
const cutAt = 255

// storedText is a text as the data of a TXT row: special bytes are escaped, and
// no cut falls into an escape. A block that cannot be filled to 255 bytes is
// parted behind its first character, with spaces between the two strings.
func storedText(text string) string {
	var all strings.Builder
	var block []string
	used := 0
	for i := range len(text) {
		token := escaped(text[i])
		if used+len(token) > cutAt {
			var over []string
			block, over = fitted(block, used)
			all.WriteString(strings.Join(block, ""))
			block, used = over, size(over)
		}
		block, used = append(block, token), used+len(token)
	}
	all.WriteString(strings.Join(block, ""))
	return all.String()
}

// escaped is a byte as it stands in a quoted string of a zone file.
func escaped(c byte) string {
	switch {
	case c == '"' || c == '\\':
		return `\` + string(rune(c))
	case c < ' ' || c > '~':
		return fmt.Sprintf(`\%03d`, c)
	}
	return string(rune(c))
}

// fitted makes a block exactly 255 bytes long. What does not fit is left over.
func fitted(block []string, used int) (full, over []string) {
	const shortest = len(`""`) + 1 // the end of a string, a space, and the next one's beginning
	for at := len(block); ; at-- {
		switch room := cutAt - size(block[:at]); {
		case room == 0:
			return block, nil
		case room >= shortest:
			gap := `"` + strings.Repeat(" ", room-2) + `"`
			return append([]string{block[0], gap}, block[1:at]...), block[at:]
		}
	}
}

func size(tokens []string) (n int) {
	for _, t := range tokens {
		n += len(t)
	}
	return n
}

// servedText is what the engine's name server serves for a row's data. Data that
// is not a sequence of quoted strings then is answered with its quotes, which no
// text of the panel begins with.
func servedText(data string) string {
	served := `"` + cut(data) + `"`
	if text, ok := dns.Unquote(served); ok {
		return text
	}
	return served
}

// cut parts long data as the engine does.
func cut(data string) string {
	var pieces []string
	for len(data) > cutAt {
		pieces, data = append(pieces, data[:cutAt]), data[cutAt:]
	}
	return strings.Join(append(pieces, data), `" "`)
}
