package field_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"hostpanel/domain/field"
)

func TestSyntaxErrorsNameTheirPlace(t *testing.T) {
	tests := []struct{ body, want string }{
		{`{"a":x}`, `Expecting value: line 1 column 6 (char 5)`},
		{"  ", `Expecting value: line 1 column 3 (char 2)`},
		{"{\n \"é\": 1,\n x}", `Expecting property name enclosed in double quotes: line 3 column 2 (char 12)`},
		{`{"a":1,}`, `Expecting property name enclosed in double quotes: line 1 column 8 (char 7)`},
		{`{"a" 1}`, `Expecting ':' delimiter: line 1 column 6 (char 5)`},
		{`{"a":1 "b":2}`, `Expecting ',' delimiter: line 1 column 8 (char 7)`},
		{`[1`, `Expecting ',' delimiter: line 1 column 3 (char 2)`},
		{`[1,]`, `Expecting value: line 1 column 4 (char 3)`},
		{`{}{}`, `Extra data: line 1 column 3 (char 2)`},
		{`01`, `Extra data: line 1 column 2 (char 1)`},
		{`{"a":1,"a":2}`, `Duplicate key: line 1 column 8 (char 7)`},
		{`{"x":[{"a":1,"\u0061":2}]}`, `Duplicate key: line 1 column 14 (char 13)`},
		{`{"a":"b`, `Unterminated string starting at: line 1 column 6 (char 5)`},
		{"\"a\tb\"", `Invalid control character at: line 1 column 3 (char 2)`},
		{`"\x"`, `Invalid \escape: line 1 column 2 (char 1)`},
		{`"\u00g0"`, `Invalid \uXXXX escape: line 1 column 3 (char 2)`},
		{`{"a":NaN}`, `Out of range float values are not JSON compliant: 'NaN'`},
		{`[-Infinity]`, `Out of range float values are not JSON compliant: '-Infinity'`},
		{`{"a":"` + "\xff" + `"}`, `'utf-8' codec can't decode byte 0xff in position 6: invalid start byte`},
		{"\xe2\x28", `'utf-8' codec can't decode byte 0xe2 in position 0: invalid continuation byte`},
		{"\"\xe2\x82\x28\"", `'utf-8' codec can't decode bytes in position 1-2: invalid continuation byte`},
		{"\"\xf0\x9f\x98", `'utf-8' codec can't decode bytes in position 1-3: unexpected end of data`},
		{"\"\xed\xa0\x80\"", `'utf-8' codec can't decode byte 0xed in position 1: invalid continuation byte`},
		{strings.Repeat("[", 33) + strings.Repeat("]", 33), `Nesting too deep: line 1 column 33 (char 32)`},
	}
	for _, test := range tests {
		_, err := field.Parse([]byte(test.body))
		if err == nil || err.Error() != "JSON parse error - "+test.want {
			t.Errorf("%s\n got %v\nwant %s", test.body, err, test.want)
		}
	}
}

func TestATextHasTenThousandValuesAtMost(t *testing.T) {
	list := func(n int) []byte { return []byte("[" + strings.Repeat("0,", n-2) + "0]") } // with the list itself
	if _, err := field.Parse(list(10_000)); err != nil {
		t.Error(err)
	}
	if _, err := field.Parse(list(10_001)); err == nil || !strings.HasPrefix(
		err.Error(), "JSON parse error - Too many values: line 1 column",
	) {
		t.Error(err)
	}
}

func TestTwoAndThirtyLevelsAreNotTooDeep(t *testing.T) {
	if _, err := field.Parse([]byte(strings.Repeat("[", 32) + strings.Repeat("]", 32))); err != nil {
		t.Error(err)
	}
}

func TestAnEmptyBodyIsAnEmptyObject(t *testing.T) {
	v, err := field.Parse(nil)
	if err != nil || v.Kind != field.ObjectValue {
		t.Errorf("got %v, %v", v, err)
	}
}

func TestDuplicateKeysAreFoundAmongMany(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"k0":0`)
	for i := range 40 {
		b.WriteString(`,"k` + strings.Repeat("x", i+1) + `":0`)
	}
	for _, last := range []string{"k0", "kxxx", "k" + strings.Repeat("x", 40)} {
		_, err := field.Parse([]byte(b.String() + `,"` + last + `":1}`))
		if err == nil || !strings.Contains(err.Error(), "Duplicate key") {
			t.Errorf("%s again: %v", last, err)
		}
	}
	if _, err := field.Parse([]byte(b.String() + `}`)); err != nil {
		t.Error(err)
	}
}

func TestHalvesOfPairsAreDistinctKeys(t *testing.T) {
	if _, err := field.Parse([]byte(`{"\ud800":1,"\ud801":2}`)); err != nil {
		t.Error(err)
	}
}

// FuzzParse holds the parser against the one of the standard library: what we
// take, it takes too and with the same meaning; what only it takes is what we
// are stricter about.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":[true,null,"x\u00e9\n"],"c":-1.50e+10}`, `[]`, `"\ud83d\ude00"`, `"\ud83d"`, `{"a":{"a":{}}}`,
		"\"\u2028<&>\"", `01`, `-`, `1.`, `1e`, `{"a":1,"a":2}`, "\ufeff{}", " \t\r\n0 ", `"\/\b\f"`, `[1,2`, `nul`, "\"\x7f\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) == 0 {
			return
		}
		v, err := field.Parse(body)
		if err != nil {
			if json.Valid(body) && !stricter(err.Error()) {
				t.Fatalf("%q is JSON, but: %v", body, err)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatalf("%q is no JSON, but was taken", body)
		}
		same(t, body, v.AppendJSON(nil))
	})
}

func stricter(message string) bool {
	for _, reason := range []string{"Duplicate key", "Nesting too deep", "codec can't decode"} {
		if strings.Contains(message, reason) {
			return true
		}
	}
	return false
}

func same(t *testing.T, sent, shown []byte) {
	t.Helper()
	var a, b any
	for text, to := range map[*[]byte]*any{&sent: &a, &shown: &b} {
		decoder := json.NewDecoder(bytes.NewReader(*text))
		decoder.UseNumber()
		if err := decoder.Decode(to); err != nil {
			t.Fatalf("%q: %v", *text, err)
		}
	}
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("%q was shown as %q", sent, shown)
	}
}

func BenchmarkParse(b *testing.B) {
	body := []byte(
		`{"plan_id": 7, "customer_email": "ana@example.com", "customer_name": "Ana Ruiz", "payment_method": "test", ` +
			`"billing_period": "yearly", "domain": "example.com", "language": "es"}`,
	)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := field.Parse(body); err != nil {
			b.Fatal(err)
		}
	}
}
