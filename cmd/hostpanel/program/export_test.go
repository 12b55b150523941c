package program

import "strings"

// SagaFigures are the names of the figures that sagas know of themselves.
func SagaFigures() (names []string) {
	for _, g := range ofSagas {
		name, _, _ := strings.Cut(strings.TrimPrefix(g.desc.String(), `Desc{fqName: "`), `"`)
		names = append(names, name)
	}
	return names
}
