package ispconfigtest

import "slices"

// A login is one of the engine's own panel. It belongs to a client by number, whether
// or not that client is there, and no index keeps two of one name apart.
type login struct {
	name, hash string
	client     int
}

// A LoginBook has the logins of an engine, oldest first.
type LoginBook struct {
	engine *Engine
	all    []login
}

// Count tells how many logins of a name there are.
func (b *LoginBook) Count(name string) (n int) {
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	for _, l := range b.all {
		if l.name == name {
			n++
		}
	}
	return n
}

// Burn leaves a login and its group without a client, as a client does whose row was
// removed while the engine was still making it. It is older than all others.
func (b *LoginBook) Burn(name string) {
	e := b.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	client := e.tables["client"].next
	e.tables["client"].next++
	e.groups[client] = e.nextGroup
	e.nextGroup++
	b.all = slices.Insert(b.all, 0, login{name: name, client: client})
}

// Lose removes the logins of a name.
func (b *LoginBook) Lose(name string) {
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	b.all = slices.DeleteFunc(b.all, func(l login) bool { return l.name == name })
}

func (b *LoginBook) has(client int) bool {
	return slices.ContainsFunc(b.all, func(l login) bool { return l.client == client })
}

func (b *LoginBook) isTaken(name string) bool {
	return slices.ContainsFunc(b.all, func(l login) bool { return l.name == name })
}

// admit gives a new client its group, then its login, even if its row is gone by then.
func (c *call) admit(client *record) {
	e, id := c.engine, number(client.text("client_id"))
	e.groups[id] = e.nextGroup
	e.nextGroup++
	c.step()
	e.Logins.all = append(e.Logins.all, login{client.text("username"), client.text("password"), id})
	c.step()
}

// dismiss removes the group and the logins of a client.
func (e *Engine) dismiss(client int) {
	delete(e.groups, client)
	e.Logins.all = slices.DeleteFunc(e.Logins.all, func(l login) bool { return l.client == client })
}
