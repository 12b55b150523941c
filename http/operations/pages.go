package operations

import (
	"slices"

	"hostpanel/domain/field"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// PageRoutes are where superusers run the storefront (docs/accounts.md, "Pages").
func PageRoutes(d Deps) route.Area {
	s := &apiKeys{d}
	keys, bought := s.keysDesk(), &orders{d}
	return route.Area{
		Name: "Storefront pages", Access: d.SuperuserSession(),
		About: "Where superusers run the storefront.",
		Routes: slices.Concat([]route.Route{
			web.View(web.StorefrontPath, "What happens today, and what needs a person", (&reports{d}).showStart).As("storefront_page"),
			web.View(web.KeysPath, "The keys of the storefront", keys.Look).As("keys_page").
				Taking(field.Int("page", new(int64)).Doc("Which page of the keys, from 1 on.")),
			s.Press(web.KeysPath, "Create or revoke a key", keys).As("keys_form"),
		},
			bought.pageRoutes(),
			(&users{d}).pageRoutes(),
			(&catalog{d}).planPageRoutes(),
			(&catalog{d}).widgetPageRoutes(),
			(&incidents{d}).pageRoutes(),
			(&runs{d}).pageRoutes(),
			(&inbox{d}).pageRoutes(),
			(&reports{d}).pageRoutes(),
			(&mailPreviews{d}).pageRoutes(),
			(&guide{s}).pageRoutes(),
		),
	}
}
