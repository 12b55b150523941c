package field_test

import (
	"fmt"
	"strings"

	"hostpanel/domain/field"
)

func ExampleSlugOf() {
	for _, name := range []string{"Básico", "  VPS  Ñandú #1 ", "plan_2024", "日本", "--"} {
		fmt.Printf("%q\n", field.SlugOf(name))
	}
	// Output:
	// "basico"
	// "vps-nandu-1"
	// "plan-2024"
	// ""
	// ""
}

func ExampleOwnSlug() {
	fmt.Println(field.OwnSlug("Básico", 7), field.OwnSlug("日本", 7), len(field.OwnSlug(strings.Repeat("ß", 100), 7)))
	fmt.Println(len(field.SlugOf(strings.Repeat("ß", 100))))
	// Output:
	// basico-7 7 100
	// 100
}
