package proxmox

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"slices"

	"hostpanel/domain/compute"
)

// addressSet is the set of addresses that the first network card may send from.
const addressSet = "ipfilter-net0"

// filter keeps a machine to its hardware address and its addresses. All else passes. The
// filter works only while the firewall of the cluster is on.
func (h *Hypervisor) filter(ctx context.Context, v *vm, m compute.Machine) error {
	var have map[string]text
	options := v.path() + "/firewall/options"
	if err := h.api.get(ctx, options, nil, &have); err != nil {
		return err
	}
	form := url.Values{}
	for name, value := range map[string]string{
		"enable": "1", "macfilter": "1", "dhcp": "1", "ipfilter": flag(len(m.Network.Addresses) > 0),
		"policy_in": "ACCEPT", "policy_out": "ACCEPT",
	} {
		if string(have[name]) != value {
			form.Set(name, value)
		}
	}
	if err := h.allow(ctx, v, m.Network.Addresses); err != nil {
		return err
	}
	if len(form) == 0 {
		return nil
	}
	return h.api.put(ctx, options, form)
}

// allow brings the set of addresses to those that the machine has. New ones come first. An
// empty set would let nothing pass, so there is none then.
func (h *Hypervisor) allow(ctx context.Context, v *vm, prefixes []netip.Prefix) error {
	have, exists, err := h.allowed(ctx, v)
	if err != nil {
		return err
	}
	sets, set := v.path()+"/firewall/ipset", v.path()+"/firewall/ipset/"+addressSet
	var want []string
	for _, prefix := range prefixes {
		want = append(want, prefix.Addr().String())
	}
	do := func(method, path string, form url.Values) {
		if err == nil {
			err = h.api.call(ctx, method, path, form, nil)
		}
	}
	if !exists && len(want) > 0 {
		do(http.MethodPost, sets, url.Values{"name": {addressSet}})
	}
	for _, address := range without(want, have) {
		do(http.MethodPost, set, url.Values{"cidr": {address}})
	}
	for _, address := range without(have, want) {
		do(http.MethodDelete, set+"/"+url.PathEscape(address), nil)
	}
	if exists && len(want) == 0 {
		do(http.MethodDelete, set, nil)
	}
	return err
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(one string) bool { return slices.Contains(some, one) })
}

// allowed are the addresses of the set, and whether there is one.
func (h *Hypervisor) allowed(ctx context.Context, v *vm) (have []string, exists bool, err error) {
	var sets []struct {
		Name string `json:"name"`
	}
	if err := h.api.get(ctx, v.path()+"/firewall/ipset", nil, &sets); err != nil {
		return nil, false, err
	}
	for _, set := range sets {
		exists = exists || set.Name == addressSet
	}
	if !exists {
		return nil, false, nil
	}
	var members []struct {
		CIDR string `json:"cidr"`
	}
	if err := h.api.get(ctx, v.path()+"/firewall/ipset/"+addressSet, nil, &members); err != nil {
		return nil, false, err
	}
	for _, member := range members {
		have = append(have, member.CIDR)
	}
	return have, true, nil
}
