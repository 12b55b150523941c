package route

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"hostpanel/domain/field"
)

// yamlOf writes a JSON document as YAML.
func yamlOf(document []byte) []byte {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		panic(fmt.Sprintf("route: our own document is no JSON: %v", err))
	}
	var b bytes.Buffer
	writeYAML(&b, v, 0)
	return b.Bytes()
}

// writeYAML writes a value behind a key or a dash; what has items begins on
// the next line.
func writeYAML(b *bytes.Buffer, v any, depth int) {
	indent := strings.Repeat("  ", depth)
	switch v := v.(type) {
	case map[string]any:
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 || depth > 0 {
				b.WriteString("\n" + indent)
			}
			b.WriteString(yamlText(key) + ":")
			writeNested(b, v[key], depth)
		}
	case []any:
		for _, item := range v {
			b.WriteString("\n" + indent + "-")
			writeNested(b, item, depth)
		}
	case string:
		b.WriteString(yamlText(v))
	case nil:
		b.WriteString("null")
	default:
		fmt.Fprint(b, v)
	}
}

func writeNested(b *bytes.Buffer, v any, depth int) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			b.WriteString(" {}")
			return
		}
	case []any:
		if len(v) == 0 {
			b.WriteString(" []")
			return
		}
	default:
		b.WriteByte(' ')
	}
	writeYAML(b, v, depth+1)
}

var plainYAML = regexp.MustCompile(`^[A-Za-z_$/][A-Za-z0-9_$/{}.-]*$`)

// yamlText quotes whatever YAML might take for something else. A JSON text is
// a YAML text.
func yamlText(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
	default:
		if plainYAML.MatchString(s) {
			return s
		}
	}
	return string(field.AppendText(nil, s))
}
