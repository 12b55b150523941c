package sealing_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hostpanel/eventstore/sealing"
)

const document = ` {"a":"1", "b\u002f~/":[ "2" , {"c":"\"3\\"}, 4.5e-1,true ,null,[],{}],"":"","sealed:":"sealed:x" } `

func all(pointer, pattern, quoted []byte) bool { return true }

func TestEveryStringIsFoundWithItsPointer(t *testing.T) {
	found := map[string]string{}
	patterns := map[string]bool{}
	for _, s := range sealing.Strings([]byte(document), func(pointer, pattern, quoted []byte) bool {
		patterns[string(pattern)] = true
		return true
	}) {
		found[s.Pointer] = sealing.Unquote([]byte(document)[s.Start:s.End])
	}
	want := map[string]string{"/a": "1", "/b~1~0~1/0": "2", "/b~1~0~1/1/c": `"3\`, "/": "", "/sealed:": "sealed:x"}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("%v", found)
	}
	if !patterns["/b~1~0~1/*/c"] {
		t.Errorf("%v", patterns)
	}
}

func TestStringsAreReplacedWhereTheyStand(t *testing.T) {
	found := sealing.Strings([]byte(document), all)
	replaced := sealing.Replace([]byte(document), found, func(i int) string { return fmt.Sprint("<", i, ">") })
	var got, want any
	if err := json.Unmarshal(replaced, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(
		[]byte(`{"a":"<0>","b/~/":["<1>",{"c":"<2>"},0.45,true,null,[],{}],"":"<3>","sealed:":"<4>"}`), &want,
	); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s", replaced)
	}
}

// What looks like a sealed text without being one is written in another form
// of the same text. Names of members are no texts.
func TestClearTextsThatLookSealedAreEscaped(t *testing.T) {
	escaped := sealing.Escape([]byte(document))
	var got, want any
	if json.Unmarshal(escaped, &got) != nil || json.Unmarshal([]byte(document), &want) != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s", escaped)
	}
	if found := sealing.Strings(escaped, func(_, _, quoted []byte) bool { return sealing.IsSealed(quoted) }); len(found) != 0 {
		t.Errorf("%s still has %v", escaped, found)
	}
}

// The walk agrees with encoding/json about every valid document.
func FuzzStrings(f *testing.F) {
	f.Add(document)
	f.Add(`{"a":{"b":["x",["y"]]}}`)
	f.Add(`"alone"`)
	f.Add(`[1,{"\u00e9\\":"\ud83d\ude00"}]`)
	f.Fuzz(func(t *testing.T, document string) {
		var value any
		if json.Unmarshal([]byte(document), &value) != nil {
			return
		}
		var want int
		count(value, &want)
		found := sealing.Strings([]byte(document), all)
		if len(found) < want { // of members with one name json keeps the last
			t.Fatalf("%d strings in %s, want %d", len(found), document, want)
		}
		again := sealing.Replace([]byte(document), found, func(i int) string {
			return sealing.Unquote([]byte(document)[found[i].Start:found[i].End])
		})
		var got any
		if err := json.Unmarshal(again, &got); err != nil || !reflect.DeepEqual(got, value) {
			t.Fatalf("%s is rewritten as %s", document, again)
		}
		if escaped := sealing.Escape([]byte(document)); json.Unmarshal(escaped, &got) != nil || !reflect.DeepEqual(got, value) {
			t.Fatalf("%s is escaped as %s", document, escaped)
		}
	})
}

func count(value any, strings *int) {
	switch v := value.(type) {
	case string:
		*strings++
	case []any:
		for _, v := range v {
			count(v, strings)
		}
	case map[string]any:
		for _, v := range v {
			count(v, strings)
		}
	}
}

func BenchmarkStrings(b *testing.B) {
	long := []byte(`{"members":[` + strings.Repeat(`{"name":"a name","number":12.5,"flag":true},`, 20) + `null]}`)
	for b.Loop() {
		sealing.Strings(long, func(_, _, quoted []byte) bool { return sealing.IsSealed(quoted) })
	}
}

// Blanked texts are those that Strings finds, wherever "sealed:" stands besides.
func TestBlankEmptiesTheSealedTextsAlone(t *testing.T) {
	for document, want := range map[string]string{
		`{"a":"sealed:1:x","b":[ "sealed:1:\"y\\" , "clear"]}`:       `{"a":"","b":[ "" , "clear"]}`,
		`{"sealed:key":"sealed:1:x","sealed:other" : "sealed text"}`: `{"sealed:key":"","sealed:other" : "sealed text"}`,
		`{"quoted":"he said,\"sealed:1:x\"","\"sealed:1":"\\","b":"sealed:\\"}`: `{"quoted":"he said,\"sealed:1:x\"",` +
			`"\"sealed:1":"\\","b":""}`,
		`{"a":{"b":"\u0073ealed:1:x"},"c":1}`: `{"a":{"b":"\u0073ealed:1:x"},"c":1}`,
		`"sealed:1:x"`:                        `""`,
	} {
		found := sealing.Strings([]byte(document), func(_, _, quoted []byte) bool { return sealing.IsSealed(quoted) })
		if by := string(sealing.Replace([]byte(document), found, func(int) string { return "" })); by != want {
			t.Errorf("%s: Replace makes %s", document, by)
		}
		if got := string(sealing.Blank([]byte(document))); got != want {
			t.Errorf("%s: Blank makes %s", document, got)
		}
	}
}
