package field

// Schema is the record in the API document: as a request of the given mode
// has it, or as answers show it.
func (s Set) Schema(mode Mode) map[string]any {
	props, required := map[string]any{}, []string{}
	for i := range s {
		f := &s[i]
		if mode == Shown && f.secret || mode != Shown && f.readOnly {
			continue
		}
		props[f.Name] = f.Schema(mode)
		if f.isAlways(mode) {
			required = append(required, f.Name)
		}
	}
	schema := map[string]any{"type": "object", "properties": props}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func (f *Field) isAlways(mode Mode) bool {
	switch mode {
	case Create:
		return f.required
	case Replace:
		return f.required && !f.once && !f.secret
	case Shown:
		return !f.hidden
	default:
		return false
	}
}

// Schema is the field in the API document. It panics if the declaration makes
// no sense, so that a mistake shows when the program starts.
func (f *Field) Schema(mode Mode) map[string]any {
	s := f.kind.schema(f)
	if _, isJoined := f.kind.(joined); isJoined && mode == Shown {
		s = map[string]any{"type": "string"}
	}
	if f.About != "" {
		s["description"] = f.About
	}
	if f.readOnly && mode != Shown {
		s["readOnly"] = true
	}
	if f.oneTime && mode == Shown && !f.takesNull() {
		s["type"] = []any{s["type"], "null"}
	}
	if f.emptied && mode != Shown {
		s["type"] = []any{s["type"], "null"}
		delete(s, "minLength")
	}
	if f.secret {
		s["writeOnly"] = true
	}
	if f.hasPreset {
		other := Field{Name: f.Name, kind: f.kind.apart(), preset: f.preset}
		other.preSet()
		if mode == Create {
			s["default"] = f.preset
		}
	}
	return s
}
