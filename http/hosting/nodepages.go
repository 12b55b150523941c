package hosting

import (
	"context"
	"fmt"
	"net/http"

	"hostpanel/domain/compute"
	"hostpanel/domain/hosting/stock"
	"hostpanel/eventstore/clock"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// showNodes are the nodes and address pools with what machines have of them
// (docs/machines-stock.md).
func (s *customers) showNodes(ctx context.Context, c route.Call) (*route.Document, error) {
	all, err := s.callers.Scope(c).Hosting().Stock(ctx, clock.Now())
	if err != nil {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	var cards []web.Card
	for _, n := range all.Nodes {
		cards = append(cards, nodeCard(w, n))
	}
	for _, p := range all.Pools {
		cards = append(cards, poolCard(w, p))
	}
	data := map[string]any{ // all on one page
		"List": web.ListOf(w, "nodes", cards), "Count": len(cards), "Wide": true, "Bar": (*web.Bar)(nil), "Newer": "", "Older": "",
	}
	return s.web.Sheet(c, http.StatusOK, "list", "nodes_title", data)
}

func nodeCard(w web.Words, n stock.Node) web.Card {
	state := web.Badge{Class: "active", Text: w["node_open"]}
	switch {
	case n.IsDrained:
		state = web.Badge{Class: "provisioning", Text: w["node_drained"]}
	case !n.HasRoom(compute.Size{Cores: 1, MemoryMB: 1, DiskGB: 1}):
		state = web.Badge{Class: "failed", Text: w["node_full"]}
	}
	return web.Card{
		Title: n.Name, Badges: []web.Badge{state}, Note: web.Told(
			web.Aspect{Name: w["node_machines"], Text: fmt.Sprint(n.Machines)},
			web.Aspect{Name: w["node_cores"], Text: fmt.Sprintf("%d / %d", n.Used.Cores, n.Cores)},
			web.Aspect{Name: w["node_memory"], Text: fmt.Sprintf("%d / %d MB", n.Used.MemoryMB, n.MemoryMB)},
			web.Aspect{Name: w["node_disk"], Text: fmt.Sprintf("%d / %d GB", n.Used.DiskGB, n.DiskGB)},
			web.Aspect{Name: w["node_server"], Text: n.Server}, web.Aspect{Name: w["node_host"], Text: n.Host},
		),
	}
}

func poolCard(w web.Words, p stock.Pool) web.Card {
	card := web.Card{Title: p.Name, Value: p.Network, Badges: []web.Badge{{Class: "active", Text: w["node_open"]}}}
	if _, free := p.First(); !free {
		card.Badges[0] = web.Badge{Class: "failed", Text: w["node_full"]}
	}
	card.Note = web.Told(web.Aspect{Name: w["pool_given"], Text: fmt.Sprint(p.Given())}, web.Aspect{Name: w["pool_bridge"], Text: p.Bridge})
	return card
}
