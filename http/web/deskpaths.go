package web

// Pages of operators.
const (
	KeysPath    = "/storefront/keys/"
	PlansPath   = "/storefront/plans/"
	WidgetsPath = "/storefront/widgets/"
)
