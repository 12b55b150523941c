package assembly_test

import (
	"fmt"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A change of a package's limits, or of a tenant's package, changes the limits at
// the engine.
func TestAnotherLimitOfAPackageReachesTheEngineForAllItsTenants(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	pack := func(id, sites int64) hosting.Request {
		p := hosting.Package{Name: fmt.Sprint("P", id), Slug: fmt.Sprint("p", id), Limits: hosting.NoLimits(), Shell: true, IsActive: true}
		p.Limits = p.Limits.With("sites", sites)
		return hosting.Request{Ref: hosting.Ref{Kind: "package", ID: id}, Spec: p.Fields().Values()}
	}
	w.carry(pack(1, 5), pack(2, 9))
	change := func(kind string, id int64, name, value string) domain.Command {
		return hosting.Change{Ref: hosting.Ref{Kind: kind, ID: id}, Spec: field.Values{name: []byte(value)}}
	}
	tenants := []int64{3, 4, 201, 600} // on three shelves
	for _, id := range tenants {
		w.carry(w.newTenant(id))
		w.carry(change("tenant", id, "package", "1"))
	}
	w.carry(w.newTenant(7))                     // has none
	at := func(id int64, limit string) string { // "": it is not there yet
		return string(w.engine.all()["tenant/"+hosting.CustomerNumber(id)].Values[limit])
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
	w.eventually("the engine knows the package", all("5"))

	w.carry(change("package", 1, "max_sites", "6"))
	w.eventually("the engine knows the new limit", all("6"))
	w.eventually("one without the package has no limit", func() bool { return at(7, "max_sites") == "-1" })
	const pushes = `select count(*) from events where name = 'hosting.push_requested'`
	w.equal("pushes", w.count(pushes), len(tenants))

	w.carry(change("package", 1, "description", `"for friends"`))
	w.carry(change("tenant", 3, "package", "2"))
	w.eventually("the engine knows of the other package", func() bool { return at(3, "max_sites") == "9" })
	w.equal("pushes of a description", w.count(pushes), len(tenants))

	w.equal("shell users", at(4, "max_shell_users"), "-1")
	w.carry(change("package", 1, "shell_enabled", "false"))
	w.eventually("the engine allows no shell users", func() bool { return at(4, "max_shell_users") == "0" })
	asked := 2*len(tenants) - 1 // one has another package
	w.eventually("all are pushed once more", func() bool { return w.count(pushes) == asked })

	// The event may come twice.
	history, err := w.store.Read(t.Context(), domain.Stream{Category: "package", ID: "1"})
	w.must(err)
	w.must(w.React(t.Context(), history[len(history)-1]))
	w.equal("pushes after a repeat", w.count(pushes), asked)
}
