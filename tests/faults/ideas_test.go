//go:build system

package faults_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// ideas are what customers do, each so often of a hundred times.
var ideas = []struct {
	often int
	do    func(*customers) bool // false: there is nothing to do it with
}{
	{38, (*customers).asksForMore},
	{36, (*customers).changesSomething},
	{9, (*customers).removesSomething},
	{4, (*customers).throwsASiteAway},
	{4, (*customers).bringsASiteBack},
	{4, (*customers).renamesASite},
	{2, (*customers).isSuspended},
	{3, (*customers).isReinstated},
}

// operation has an idea that can be carried out.
func (c *customers) operation() {
	c.T.Helper()
	for {
		n := c.chance.IntN(100)
		for _, idea := range ideas {
			if n -= idea.often; n < 0 {
				if idea.do(c) {
					return
				}
				break
			}
		}
	}
}

// ask carries commands out, now and then twice, as for a caller who got no
// answer to the first request; and again while others were always faster.
func (c *customers) ask(secrets map[uuid.UUID]string, commands ...domain.Command) {
	c.T.Helper()
	cause := domain.Metadata{ID: uuid.New(), Actor: "user:1"}
	c.Eventually("the request is carried out", func() bool {
		_, err := c.Reconciler.Carry(c.T.Context(), cause, secrets, commands...)
		if !errors.Is(err, eventstore.ErrConflict) {
			c.Must(err)
		}
		return err == nil
	})
	if c.chance.IntN(8) == 0 {
		_, err := c.Reconciler.Carry(c.T.Context(), cause, nil, commands...)
		if !errors.Is(err, eventstore.ErrConflict) {
			c.Must(err)
		}
	}
}

func (c *customers) asksForMore() bool {
	kind := pick(
		c,
		[]string{
			"site", "site", "database", "dns_zone", "dns_record", "dns_record", "mail_domain", "mailbox", "mailbox",
			"mail_alias", "ftp_account", "shell_user", "cron_job", "ssl_certificate", "proxy",
		},
	)
	one := &thing{ref: hosting.Ref{Kind: kind, ID: c.Draw(kind)}, tenant: pick(c, c.of("tenant")).ref.ID, secrets: map[string]string{}}
	if whole, is := wholes[kind]; is {
		there := c.wholesFor(kind, c.here(whole))
		if len(there) == 0 {
			return false
		}
		one.parent = pick(c, there)
		one.tenant = one.parent.tenant
	}
	one.name = c.newName(kind)
	spec := specs[kind](c, one)
	handed := c.withSecrets(one, spec)
	one.asked, one.born = spec, c.nameAtEngine(one, spec)
	commands := c.makesRoom(one)
	c.ask(handed, append(commands, hosting.Request{Ref: one.ref, Tenant: one.tenant, Spec: spec, Subject: uuid.New()})...)
	c.things = append(c.things, one)
	return true
}

// wholesFor leaves out the sites that have a certificate or have had one, which
// may yet have to leave: one is enough.
func (c *customers) wholesFor(kind string, all []*thing) []*thing {
	if kind != "ssl_certificate" {
		return all
	}
	return slices.DeleteFunc(all, func(site *thing) bool { return len(c.certificates(site, true)) > 0 })
}

// certificates are those of a site, with those that have been removed or without.
func (c *customers) certificates(site *thing, removed bool) []*thing {
	return slices.DeleteFunc(c.of("ssl_certificate"), func(one *thing) bool { return one.parent != site || one.gone && !removed })
}

func (c *customers) nameAtEngine(one *thing, spec field.Values) string {
	kind, _ := hosting.KindNamed(one.ref.Kind)
	if one.parent == nil {
		return kind.Object(one.ref.ID, spec, nil).Name
	}
	return c.inParent(kind, kind.Object(one.ref.ID, spec, one.parent.asked), one).Name
}

// inParent names an object as the engine does that has its parent.
func (c *customers) inParent(kind hosting.Kind, o hosting.EngineObject, one *thing) hosting.EngineObject {
	if parent, is := kind.Parent(); is {
		o.Parents = map[string]int64{parent.Field: at(c.Resource(one.parent.ref))}
	}
	o.Name = kind.NameIn(o)
	return o
}

// newName returns a name that is not visibly in use. It may belong to a removed,
// binned or renamed resource.
func (c *customers) newName(kind string) string {
	for {
		name := fmt.Sprintf("%s%d", kind[:2], c.chance.IntN(60))
		if !slices.ContainsFunc(c.here(kind), func(other *thing) bool { return other.name == name }) {
			return name
		}
	}
}

// makesRoom removes the resource with the name from the bin.
func (c *customers) makesRoom(one *thing) (commands []domain.Command) {
	for _, other := range c.of(one.ref.Kind) {
		if other.trashed && !other.gone && other.name == one.name {
			commands = append(commands, c.leaves(other)...)
		}
	}
	return commands
}

// leaves are the removals of something with its parts. Databases lose their
// site, and stay.
func (c *customers) leaves(one *thing) (commands []domain.Command) {
	for _, part := range c.parts(one) {
		if part.ref.Kind == "database" {
			part.parent, part.asked["site"] = nil, []byte("null")
			commands = append(commands, hosting.Change{Ref: part.ref, Spec: field.Values{"site": []byte("null")}})
			continue
		}
		part.gone = true
		commands = append(commands, hosting.Remove{Ref: part.ref})
	}
	one.gone = true
	return append(commands, hosting.Remove{Ref: one.ref})
}

func (c *customers) changesSomething() bool {
	all := c.here("")
	if len(all) == 0 {
		return false
	}
	one := pick(c, all)
	spec := pick(c, changes[one.ref.Kind])(c, one)
	handed := c.withSecrets(one, spec)
	for name, value := range spec {
		one.asked[name] = value
	}
	c.ask(handed, hosting.Change{Ref: one.ref, Spec: spec})
	return true
}

// withSecrets puts a handle for each secret that a spec has, and remembers it.
func (c *customers) withSecrets(one *thing, spec field.Values) map[uuid.UUID]string {
	handed := map[uuid.UUID]string{}
	for _, name := range []string{"password", "db_password"} {
		if secret := string(spec[name]); secret != "" && secret != `""` {
			handle := uuid.New()
			handed[handle] = fmt.Sprintf("pass-word-%s", handle)
			one.secrets[name] = handed[handle]
			spec[name], _ = json.Marshal(handle)
		}
	}
	return handed
}

func (c *customers) removesSomething() bool {
	all := slices.DeleteFunc(c.here(""), func(one *thing) bool { return one.ref.Kind == "site" && c.chance.IntN(2) == 0 })
	if len(all) == 0 {
		return false
	}
	c.ask(nil, c.leaves(pick(c, all))...)
	return true
}

func (c *customers) throwsASiteAway() bool {
	all := c.here("site")
	if len(all) == 0 {
		return false
	}
	one := pick(c, all)
	commands := []domain.Command{hosting.MoveToBin{Ref: one.ref}}
	for _, part := range c.parts(one) {
		if part.ref.Kind != "database" {
			commands = append(commands, hosting.Disable{Ref: part.ref, By: hosting.BySite})
		}
	}
	one.trashed = true
	c.ask(nil, commands...)
	return true
}

func (c *customers) bringsASiteBack() bool {
	inUse := func(one *thing) bool {
		return slices.ContainsFunc(c.here("site"), func(other *thing) bool { return other.name == one.name })
	}
	all := slices.DeleteFunc(c.of("site"), func(one *thing) bool { return !one.trashed || one.gone || inUse(one) })
	if len(all) == 0 {
		return false
	}
	one := pick(c, all)
	commands := []domain.Command{hosting.Restore{Ref: one.ref}}
	for _, part := range c.parts(one) {
		commands = append(commands, hosting.Enable{Ref: part.ref, By: hosting.BySite})
	}
	one.trashed = false
	c.ask(nil, commands...)
	return true
}

func (c *customers) renamesASite() bool {
	certified := func(site *thing) bool { return len(c.certificates(site, false)) > 0 } // it is for the name that the site has
	all := slices.DeleteFunc(c.here("site"), certified)
	if len(all) == 0 {
		return false
	}
	one := pick(c, all)
	one.name = c.newName("site")
	commands := c.makesRoom(one)
	one.asked["domain"], _ = json.Marshal(one.name + ".test")
	c.ask(nil, append(commands, hosting.Change{Ref: one.ref, Spec: field.Values{"domain": one.asked["domain"]}})...)
	return true
}

func (c *customers) isSuspended() bool {
	return c.all(false, func(one *thing) domain.Command { return hosting.Disable{Ref: one.ref, By: hosting.ByTenant} })
}

func (c *customers) isReinstated() bool {
	return c.all(true, func(one *thing) domain.Command { return hosting.Enable{Ref: one.ref, By: hosting.ByTenant} })
}

// all does the same to everything that a tenant has.
func (c *customers) all(halted bool, do func(*thing) domain.Command) bool {
	tenants := slices.DeleteFunc(c.of("tenant"), func(one *thing) bool { return one.halted != halted })
	if len(tenants) == 0 {
		return false
	}
	tenant := pick(c, tenants)
	tenant.halted = !halted
	var commands []domain.Command
	for _, one := range c.things {
		if one.tenant == tenant.ref.ID && one != tenant && !one.gone {
			commands = append(commands, do(one))
		}
	}
	if len(commands) > 0 {
		c.ask(nil, commands...)
	}
	return true
}
