package field_test

import (
	"fmt"

	"hostpanel/domain/field"
)

func ExampleJoined() {
	var to []string
	set := field.Set{field.Joined("to", &to, func(f field.Field) field.Field { return f.Is(field.Email) }).Required().Min(1).Max(3)}
	for _, body := range []string{
		`{"to":"a@b.es, c@d.es,"}`, `{"to":["a@b.es"]}`, `{"to":"x, y"}`, `{"to":["a@b.es","y"]}`, `{"to":""}`,
		`{"to":[]}`, `{"to":null}`, `{"to":true}`,
	} {
		if _, err := set.DecodeJSON([]byte(body), field.Create); err != nil {
			fmt.Println(string(field.ErrorsOf(err).AppendJSON(nil)))
			continue
		}
		fmt.Println(string(set.AppendJSON(nil)), string(set.Values()["to"]))
	}
	// Output:
	// {"to":"a@b.es, c@d.es"} ["a@b.es","c@d.es"]
	// {"to":"a@b.es"} ["a@b.es"]
	// {"to":["Enter a valid email address."]}
	// {"to":{"1":["Enter a valid email address."]}}
	// {"to":["This field may not be blank."]}
	// {"to":["This list may not be empty."]}
	// {"to":["This field may not be null."]}
	// {"to":["Expected a list of items but got type \"bool\"."]}
}
