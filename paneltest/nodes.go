package paneltest

import "hostpanel/domain/hosting"

// Node asks for a node with room for sixteen small machines, and one template.
func Node(id int64, name string, change ...func(*hosting.Node)) hosting.Request {
	n := &hosting.Node{Name: name, Cores: 32, MemoryMB: 65536, DiskGB: 1600, Weight: 100, Templates: []string{"debian-12=debian-12.qcow2"}}
	for _, f := range change {
		f(n)
	}
	return hosting.Request{Ref: hosting.Ref{Kind: "node", ID: id}, Spec: n.Fields().Values()}
}

// AddressPool asks for a pool of a network, from which machines of all nodes get addresses.
func AddressPool(id int64, name, network string, change ...func(*hosting.AddressPool)) hosting.Request {
	p := &hosting.AddressPool{Name: name, Network: network}
	for _, f := range change {
		f(p)
	}
	hosting.Complete(p, hosting.Place{ID: id})
	return hosting.Request{Ref: hosting.Ref{Kind: "address_pool", ID: id}, Spec: p.Fields().Values()}
}
