package ispconfigtest

import (
	"regexp"
	"strings"
)

// What the engine makes of values while it stores them: by table, the columns that
// it puts into lower case, and those that it strips of tags and line breaks.
var (
	lowered = map[string]string{
		"client": "email", "web_domain": "domain", "dns_soa": "origin ns mbox", "mail_domain": "domain", "mail_user": "email login",
		"mail_forwarding": "source destination",
	}
	stripped = map[string]string{
		"client": "contact_name company_name street zip city telephone vat_id", "mail_user": "name", "mail_forwarding": "destination",
	}
	// lengths are how many characters a column keeps of a longer text.
	lengths = map[string]int{
		"client contact_name": 64, "client company_name": 64, "client city": 64, "client telephone": 32,
		"client zip": 32,
	}
)

var tag = regexp.MustCompile(`<[^ \t\r\n][^>]*>?`)

func filtered(table, column, value string) string {
	if among(lowered[table], column) {
		value = lower(value)
	}
	if among(stripped[table], column) {
		value = strings.NewReplacer("\n", "", "\r", "").Replace(tag.ReplaceAllString(value, ""))
	}
	value = threeBytes(value)
	if most, limited := lengths[table+" "+column]; limited && len([]rune(value)) > most {
		value = string([]rune(value)[:most])
	}
	return value
}

func among(columns, column string) bool { return strings.Contains(" "+columns+" ", " "+column+" ") }

// lower is the engine's own function, which knows ASCII only.
func lower(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}, s)
}

// threeBytes writes a question mark for each byte of a character of four.
func threeBytes(s string) string {
	var b strings.Builder
	for _, c := range s {
		if c > 0xFFFF {
			b.WriteString("????")
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// lowerRecord puts what is a name into lower case: of most types both the record's
// and the one that it leads to.
func lowerRecord(r *record) {
	kind := r.text("type")
	if kind != "AAAA" {
		r.set("name", lower(r.text("name")))
	}
	if among("CNAME MX NS PTR", kind) {
		r.set("data", lower(r.text("data")))
	}
}
