package program

import (
	"strings"

	"hostpanel/sagas/hosting"
	"hostpanel/sagas/orders"
)

// SagaFigures are the names of the figures that sagas know of themselves.
func SagaFigures() (names []string) {
	for _, g := range ofSagas {
		name, _, _ := strings.Cut(strings.TrimPrefix(g.desc.String(), `Desc{fqName: "`), `"`)
		names = append(names, name)
	}
	return names
}

// HostingOf is the service that the API is given for hosting resources.
func HostingOf(p *Program) *hosting.Service { return p.hosting() }

// StorefrontOf is the service that the API is given for orders.
func StorefrontOf(p *Program) *orders.Service { return p.storefront() }
