package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"hostpanel/domain"
)

// groups remembers which group belongs to which client. Neither ever changes.
type groups struct {
	mu       sync.Mutex
	ofClient map[int64]int64
	ofGroup  map[int64]int64
	whole    map[int64]bool // clients that have a login
}

func (g *groups) learn(client, group int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ofClient == nil {
		g.ofClient, g.ofGroup = map[int64]int64{}, map[int64]int64{}
	}
	g.ofClient[client], g.ofGroup[group] = group, client
}

func (g *groups) forget(client int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.ofGroup, g.ofClient[client])
	delete(g.ofClient, client)
	delete(g.whole, client)
}

func (g *groups) markWhole(client int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.whole == nil {
		g.whole = map[int64]bool{}
	}
	g.whole[client] = true
}

func (g *groups) isWhole(client int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.whole[client]
}

func (g *groups) lookup(client, group int64) (ofClient, ofGroup int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ofClient[client], g.ofGroup[group]
}

// owners tell clients and their groups apart.
type owners struct {
	api    *connection
	groups groups
}

// groupOf is the group whose rows a client owns. The engine answers a missing
// client with the group of its administrator, which is never a tenant's.
func (o *owners) groupOf(ctx context.Context, client int64) (int64, error) {
	if _, is := rehearsalOf(ctx).made(&clients); is && client == 0 {
		return 0, nil
	}
	if client < 1 {
		return 0, domain.Fail(domain.Permanent, "owner_missing", errors.New("without an owner a row would belong to the administrator"))
	}
	if group, _ := o.groups.lookup(client, 0); group != 0 {
		return group, nil
	}
	var group id
	err := o.api.read(ctx, "client_get_groupid", members{{"client_id", client}}, &group)
	switch {
	case refusedAs(err, absent):
		return 0, domain.Fail(domain.Permanent, "owner_missing", fmt.Errorf("the engine has no client %d", client))
	case err != nil:
		return 0, err
	case group < 2:
		return 0, domain.Fail(domain.Permanent, "owner_missing", fmt.Errorf("client %d has the administrator's group", client))
	}
	o.groups.learn(client, int64(group))
	return int64(group), nil
}

// ownerOf is the client to whom a group belongs; 0: an unknown owner.
func (o *owners) ownerOf(ctx context.Context, group int64) (int64, error) {
	if group < 2 {
		return 0, nil
	}
	if _, client := o.groups.lookup(0, group); client != 0 {
		return client, nil
	}
	found, err := o.api.rows(ctx, "client_get_by_groupid", members{{"group_id", group}}, []string{"client_id"})
	if refusedAs(err, absent) || refusedAs(err, unexplained) {
		return 0, nil // whose group it was is gone
	}
	if err != nil || len(found) == 0 || found[0].number("client_id") < 1 {
		return 0, err
	}
	client := found[0].number("client_id")
	o.groups.learn(client, group)
	return client, nil
}

// burned tells whether a login is left of clients that are not there any more: the engine
// lets no other client have it.
func (o *owners) burned(ctx context.Context, login string) (bool, error) {
	found, err := o.api.rows(ctx, "client_get_by_username", members{{"username", login}}, []string{"client_id"})
	if err != nil || len(found) == 0 {
		return false, lookedFor(err)
	}
	number := found[0].number("client_id")
	if number < 1 {
		return false, nil // of the engine itself
	}
	_, present, err := o.api.get(ctx, &clients, number)
	return err == nil && !present, err
}

// unusable tells whether the engine will never let a client have a login: it is burned, or,
// of a login that the panel has chosen, another installation's client has it.
func (o *owners) unusable(ctx context.Context, login string, isChosen bool) (bool, error) {
	if burned, err := o.burned(ctx, login); err != nil || burned || !isChosen || o.api.Installation.ID == "" {
		return burned, err
	}
	found, err := o.api.seek(ctx, &clients, clients.queries(login, "", o.api.Servers))
	return len(found) > 0 && o.api.isForeign(found[0]["customer_no"]), err
}

// FreeLogin removes what burned logins of a name have left: the logins and groups of
// clients that are not there. The engine removes those along with a client even then.
func (e *Engine) FreeLogin(ctx context.Context, login string) error {
	release, err := e.take(ctx, Turn{Name: "login/" + login})
	if err != nil {
		return err
	}
	defer release()
	for range mostBurned {
		if burned, err := e.owners.burned(ctx, login); err != nil || !burned {
			return err
		}
		found, err := e.api.rows(ctx, "client_get_by_username", members{{"username", login}}, []string{"client_id"})
		if err != nil || len(found) == 0 {
			return lookedFor(err)
		}
		client := found[0].number("client_id")
		if kept, err := clientOwns(ctx, e, found[0]); err != nil || kept != "" {
			return errors.Join(err, drifted(clients.kind, client))
		}
		if err := e.api.call(ctx, "client_delete", members{{"client_id", client}}, nil); err != nil {
			return err
		}
		e.owners.groups.forget(client)
	}
	return nil
}

// mostBurned bounds how many burned logins of one name are removed.
const mostBurned = 10

// lookedFor is the failure of a look-up; that nothing was found is none.
func lookedFor(err error) error {
	if refusedAs(err, absent) {
		return nil
	}
	return err
}
