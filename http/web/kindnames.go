package web

import "hostpanel/domain/hosting"

// kindNames are what the rows of kinds call all of their resources.
func kindNames(language string) Words {
	names := Words{}
	for _, kind := range hosting.Kinds {
		if kind.HasPages() {
			names["kind_"+kind.Name] = kind.Several(language)
		}
	}
	return names
}
