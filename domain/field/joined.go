package field

import "strings"

// Joined is a list of texts that may also be sent as one text, parted by
// commas, and is shown so: "a@example.com, b@example.com". The log keeps the
// list.
func Joined(name string, at *[]string, items func(Field) Field) Field {
	l, _ := listOf(at, Text, items).(list[string])
	return Field{Name: name, kind: joined{l}}
}

type joined struct{ list[string] }

func (j joined) apart() kind { return joined{list[string]{new([]string), j.item}} }

func (j joined) read(sent Value, f *Field) []string {
	if sent.Kind == TextValue {
		return j.readText(sent.Text, f)
	}
	return j.list.read(sent, f)
}

// readText takes the parts of a text; what is wrong with any of them is wrong
// with the text.
func (j joined) readText(s string, f *Field) []string {
	parts := partsOf(s)
	if len(parts.Items) == 0 {
		return []string{"This field may not be blank."}
	}
	if wrong := j.list.read(parts, f); len(wrong) > 0 {
		return wrong
	}
	var wrong []string
	for _, item := range itemMessages(j.list.readItems(parts)) {
		if len(wrong) == 0 || wrong[len(wrong)-1] != item {
			wrong = append(wrong, item)
		}
	}
	return wrong
}

func partsOf(s string) Value {
	parts := Value{Kind: ListValue}
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts.Items = append(parts.Items, Value{Kind: TextValue, Text: part})
		}
	}
	return parts
}

// readItems takes the items of a list; those of a text have been taken.
func (j joined) readItems(sent Value) Errors {
	if sent.Kind != ListValue {
		return nil
	}
	return j.list.readItems(sent)
}

func (j joined) show(b []byte, _ *Field) []byte { return AppendText(b, strings.Join(*j.at, ", ")) }

func (j joined) schema(f *Field) map[string]any {
	return map[string]any{"anyOf": []any{map[string]any{"type": "string"}, j.list.schema(f)}}
}
