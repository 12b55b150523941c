package field_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"hostpanel/domain/field"
)

func TestFieldsAreCutOutOfAnObjectAsPackageJSONReadsThem(t *testing.T) {
	for _, object := range []string{
		`{}`, `{"a": 1}`, `{"domain": "a.example", "is_active": true, "site": null, "n": -12.5e3}`,
		`{"quoted": "a \" b", "slash\\\"ed": "\\", "ends": "\\\\"}`, `{"comma": "a, b: {c} [d]"}`,
		`{"list": ["a", {"b": [1, 2]}], "object": {"c": {"d": "}"}}, "after": false}`, `{"ümlaut": "\u00fc €"}`, `{"a":1,"b":"c"}`,
		`{"empty": "", "none": [], "nothing": {}}`, `null`,
	} {
		var cut field.Values
		var read map[string]json.RawMessage
		if err := cut.ScanBytes([]byte(object)); err != nil {
			t.Errorf("%s: %v", object, err)
		}
		if err := json.Unmarshal([]byte(object), &read); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(map[string]json.RawMessage(cut), read) {
			t.Errorf("%s is %s, not %s", object, cut, read)
		}
	}
}

func TestWhatIsNoObjectIsNotCutIntoFields(t *testing.T) {
	for _, wrong := range []string{``, `[1]`, `"a"`, `{a: 1}`, `{:}`} {
		var v field.Values
		if err := v.ScanBytes([]byte(wrong)); err == nil {
			t.Errorf("%s is %s", wrong, v)
		}
	}
	v := field.Values{"a": nil}
	if err := v.ScanBytes(nil); err != nil || v != nil {
		t.Errorf("a null of the database is %v, %v", v, err)
	}
}

func TestValuesOutliveTheBufferThatTheyWereReadFrom(t *testing.T) {
	buffer := []byte(`{"domain": "a.example"}`)
	var v field.Values
	if err := v.ScanBytes(buffer); err != nil {
		t.Fatal(err)
	}
	clear(buffer)
	if got := string(v["domain"]); got != `"a.example"` {
		t.Errorf("after the next row: %s", got)
	}
}

func TestFieldsLoadAsPackageJSONReadsThem(t *testing.T) {
	for _, raw := range []string{
		`"plain"`, `""`, `"a\nb"`, `"\u00fc"`, "\"\xff\"", `null`, `12`, `-7`, `"`, `1.5`, `99999999999999999999`,
		`true`, `false`, `tru`,
	} {
		for _, pair := range [][2]any{{new(string), new(string)}, {new(int64), new(int64)}, {new(bool), new(bool)}} {
			wrong := json.Unmarshal([]byte(raw), pair[0])
			err := setOf(pair[1]).Load(field.Values{"x": json.RawMessage(raw)})
			if (err == nil) != (wrong == nil) || err == nil && !reflect.DeepEqual(pair[0], pair[1]) {
				t.Errorf(
					"%s as %T: %v (%v), package json says %v (%v)", raw, pair[1], reflect.ValueOf(pair[1]).Elem(), err,
					reflect.ValueOf(pair[0]).Elem(), wrong,
				)
			}
		}
	}
}

func setOf(place any) field.Set {
	switch at := place.(type) {
	case *string:
		return field.Set{field.Text("x", at)}
	case *int64:
		return field.Set{field.Int("x", at)}
	default:
		return field.Set{field.Flag("x", place.(*bool))}
	}
}

func TestFieldsAreArrangedByTheirNames(t *testing.T) {
	var a, b, c int64 = 1, 2, 3
	all := func() field.Set {
		return field.Set{field.Int("a", &a), field.Int("b", &b), field.Int("c", &c)}
	}
	for _, names := range [][]string{{}, {"c"}, {"b", "a"}, {"c", "a", "b"}, {"a", "b", "c"}} {
		var got []string
		for _, f := range all().Arranged(names) {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, names) {
			t.Errorf("%v, not %v", got, names)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a field that there is not was arranged")
		}
	}()
	all().Arranged([]string{"a", "d"})
}
