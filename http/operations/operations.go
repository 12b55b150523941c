package operations

import (
	"slices"

	"hostpanel/http/route"
)

const operationsPrefix = "/operations/api/v1/"

// Routes are what those who operate the installation do with it
// (docs/api.md, "Operations").
func Routes(d Deps) route.Area {
	return route.Area{
		Name: "Operations", Prefix: operationsPrefix, Access: d.Superuser(),
		About: "What superusers do: accounts, plans, widgets, keys of the storefront, orders, and what goes on behind them.",
		Routes: slices.Concat((&users{d}).userRoutes(), (&catalog{d}).planRoutes(), (&catalog{d}).widgetRoutes(), (&apiKeys{d}).keyRoutes(),
			(&orders{d}).orderFileRoutes(), (&runs{d}).sagaRoutes(), (&inbox{d}).inboxRoutes(), (&mailPreviews{d}).mailRoutes(),
			(&incidents{d}).incidentRoutes(), (&incidents{d}).answerRoutes(), []route.Route{(&reports{d}).reconciliationRoute(), (&reports{d}).overviewRoute(), (&reports{d}).settingsRoute(), (&reports{d}).readTablesRoute(), (&reports{d}).projectionsRoute(), (&reports{d}).rebuildRoute()}),
	}
}
