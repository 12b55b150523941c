package check

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// jsonb writes JSON as Postgres writes its type jsonb: short keys first.
func jsonb(v any) string {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.SortedFunc(maps.Keys(v), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		parts := make([]string, len(keys))
		for i, k := range keys {
			parts[i] = jsonb(k) + ": " + jsonb(v[k])
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = jsonb(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
