package proxmoxtest

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
)

func firewallOptions(s *Server, m *machine, r request) (any, error) {
	answer := map[string]any{"digest": "da39a3ee5e6b4b0d3255bfef95601890afd80709"}
	for name, value := range m.firewall {
		answer[name] = value
	}
	return answer, nil
}

func setFirewallOptions(_ *Server, m *machine, r request) (any, error) {
	maps.Copy(m.firewall, r.form)
	return nil, nil
}

func listSets(s *Server, m *machine, r request) (any, error) {
	rows := []any{}
	for _, name := range sorted(m.sets) {
		rows = append(rows, map[string]any{"name": name, "digest": "da39a3ee"})
	}
	return rows, nil
}

func addSet(_ *Server, m *machine, r request) (any, error) {
	if _, is := m.sets[r.form["name"]]; is {
		return nil, invalid("name", "IPSet '%s' already exists", r.form["name"])
	}
	m.sets[r.form["name"]] = []string{}
	return nil, nil
}

// set is a set of a machine.
func (s *Server) set(r request) (*machine, []string, error) {
	m, err := s.at(r)
	if err != nil {
		return nil, nil, err
	}
	members, is := m.sets[r.path["name"]]
	if !is {
		return nil, nil, dies("no such IPSet '%s'", r.path["name"])
	}
	return m, members, nil
}

func listMembers(s *Server, r request) (any, error) {
	_, members, err := s.set(r)
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, member := range members {
		rows = append(rows, map[string]any{"cidr": member, "digest": "da39a3ee"})
	}
	return rows, nil
}

func addMember(s *Server, r request) (any, error) {
	m, members, err := s.set(r)
	if err != nil {
		return nil, err
	}
	cidr := r.form["cidr"]
	_, single := netip.ParseAddr(cidr)
	if _, network := netip.ParsePrefix(cidr); single != nil && network != nil {
		return nil, invalid("cidr", "invalid format - value does not look like a valid address: %s", cidr)
	}
	if slices.Contains(members, cidr) {
		return nil, invalid("cidr", "address '%s' already exists", cidr)
	}
	m.sets[r.path["name"]] = append([]string{cidr}, members...)
	return nil, nil
}

func dropMember(s *Server, r request) (any, error) {
	m, members, err := s.set(r)
	if err != nil {
		return nil, err
	}
	m.sets[r.path["name"]] = slices.DeleteFunc(slices.Clone(members), func(member string) bool {
		return strings.EqualFold(member, r.path["cidr"])
	})
	return nil, nil
}

func dropSet(s *Server, r request) (any, error) {
	m, members, err := s.set(r)
	if err != nil {
		return nil, err
	}
	if len(members) > 0 && r.form["force"] != "1" {
		return nil, dies("IPSet '%s' is not empty", r.path["name"])
	}
	delete(m.sets, r.path["name"])
	return nil, nil
}
