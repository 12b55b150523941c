package field_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"hostpanel/domain/field"
)

// FuzzDecode sends anything to a record of every sort: it is refused with a
// body that is JSON, or kept in a form that is taken again as it is.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"domain":"example.com","price":1e999999999,"quota":1e-999999999}`, `{"domain":"xn--a.example","plan":-1,"parent":""}`,
		`{"domain":"a.bc","name":"\ud800","metadata":[1,{"a":0.10}],"options":["a"]}`,
		`{"domain":"a.bc","starts":"2024-01-01 10:00","price":"0e5"}`,
		`{"domain":"a.bc","starts":"0000-01-01T00:00+23:59","ends":"9999-12-31T23:59:59-23:59"}`, `[]`, `null`,
		`{"domain":"MÜNCHEN.example.","name":"cafe\u0301 \u202Etxt\u200B","note":"{tmpl_var name='x'} $(id) %00",` +
			`"bio":"a\u2028b\u0085\r\n"}`, `{"domain":"٣.example","name":"\u0000"}`,
		`{"domain":"a.bc","plan":"7","parent":3,"name":" ab ","note":"","bio":"a\nb","theme":"dark","quota":3.0,` +
			`"active":"yes","price":2.50,"setup":"1","starts":"2024-01-01T10:00:00.12+02:00","ends":null,` +
			`"order":"3F2504E0-4F89-41D3-9A0C-0305E82C3301","options":["a"," b "],"plans":["1",2],` +
			`"metadata":{"a":[1.50]},"zone":"z"}`, `{"domain":"` + "\u2028" + `.x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var s, again sample
		set, err := s.Fields().DecodeJSON(body, field.Create)
		if err != nil {
			if wrong := field.ErrorsOf(err); len(wrong) > 0 && !json.Valid(wrong.AppendJSON(nil)) {
				t.Fatalf("%q is refused with %s", body, wrong.AppendJSON(nil))
			}
			return
		}
		shown := set.AppendJSON(nil)
		if _, err := again.Fields().DecodeJSON(shown, field.Create); err != nil {
			t.Fatalf("%q is shown as %s, which is refused: %v", body, shown, err)
		}
		if twice := again.Fields().Only(names(set)...).AppendJSON(nil); !bytes.Equal(shown, twice) {
			t.Fatalf("%q is shown as %s, and then as %s", body, shown, twice)
		}
	})
}

func names(s field.Set) (all []string) {
	for _, f := range s {
		all = append(all, f.Name)
	}
	return all
}
