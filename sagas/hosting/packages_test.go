package hosting_test

import (
	"fmt"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/sagas/sagastest"
)

// A change of a package's limits, or of a tenant's package, changes the limits at
// the engine.
func TestAnotherLimitOfAPackageReachesTheEngineForAllItsTenants(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	pack := func(id, sites int64) hosting.Request {
		p := hosting.Package{Name: fmt.Sprint("P", id), Slug: fmt.Sprint("p", id), Limits: hosting.NoLimits(), Shell: true, IsActive: true}
		p.Limits = p.Limits.With("sites", sites)
		return hosting.Request{Ref: hosting.Ref{Kind: "package", ID: id}, Spec: p.Fields().Values()}
	}
	w.Carry(pack(1, 5), pack(2, 9))
	change := func(kind string, id int64, name, value string) domain.Command {
		return hosting.Change{Ref: hosting.Ref{Kind: kind, ID: id}, Spec: field.Values{name: []byte(value)}}
	}
	tenants := []int64{3, 4, 201, 600} // on three shelves
	for _, id := range tenants {
		w.Carry(w.NewTenant(id))
		w.Carry(change("tenant", id, "package", "1"))
	}
	w.Carry(w.NewTenant(7))                     // has none
	at := func(id int64, limit string) string { // "": it is not there yet
		return string(w.Engine.All()["tenant/"+hosting.CustomerNumber(id)].Values[limit])
	}
	all := func(want string) func() bool {
		return func() bool {
			for _, id := range tenants {
				if at(id, "max_sites") != want {
					return false
				}
			}
			return true
		}
	}
	w.Eventually("the engine knows the package", all("5"))

	w.Carry(change("package", 1, "max_sites", "6"))
	w.Eventually("the engine knows the new limit", all("6"))
	w.Eventually("one without the package has no limit", func() bool { return at(7, "max_sites") == "-1" })
	const pushes = `select count(*) from events where name = 'hosting.push_requested'`
	w.Equal("pushes", w.Count(pushes), len(tenants))

	w.Carry(change("package", 1, "description", `"for friends"`))
	w.Carry(change("tenant", 3, "package", "2"))
	w.Eventually("the engine knows of the other package", func() bool { return at(3, "max_sites") == "9" })
	w.Equal("pushes of a description", w.Count(pushes), len(tenants))

	w.Equal("shell users", at(4, "max_shell_users"), "-1")
	w.Carry(change("package", 1, "shell_enabled", "false"))
	w.Eventually("the engine allows no shell users", func() bool { return at(4, "max_shell_users") == "0" })
	asked := 2*len(tenants) - 1 // one has another package
	w.Eventually("all are pushed once more", func() bool { return w.Count(pushes) == asked })

	// The event may come twice.
	history, err := w.Store.Read(t.Context(), domain.Stream{Category: "package", ID: "1"})
	w.Must(err)
	w.Must(w.Runner.Reactions.React(t.Context(), history[len(history)-1]))
	w.Equal("pushes after a repeat", w.Count(pushes), asked)
}
