package document

import "hostpanel/domain/buyer"

// isCountry tells whether rule BR-CL-14 allows a code: those of ISO 3166 with two letters, 1A
// for Kosovo and XI for Northern Ireland.
func isCountry(code string) bool { return code == "1A" || code == "XI" || buyer.IsCountry(code) }
