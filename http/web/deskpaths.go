package web

// Pages of operators.
const (
	KeysPath = "/storefront/keys/"
)
