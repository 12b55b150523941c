package hosting_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"hostpanel/domain/hosting"
)

// A record is a resource with what was wanted of it.
type record struct {
	hosting.Resource
	wanted bool
}

// A home is a tenant with records of all sorts, of which site 1 has the others
// as its parts.
type home struct {
	t       *rapid.T
	status  string
	records map[hosting.Ref]record
}

// do asks a record for something, as it would be carried out.
func (h *home) do(c hosting.Command) {
	stream := c.Stream()
	id, err := strconv.ParseInt(stream.ID, 10, 64)
	if err != nil {
		h.t.Fatal(err)
	}
	ref := hosting.Ref{Kind: stream.Category, ID: id}
	r := h.records[ref]
	facts, err := hosting.Decider.Decide(r.Resource, c)
	if err != nil {
		h.t.Fatalf("%#v: %v", c, err)
	}
	for _, fact := range facts {
		r.Resource = hosting.Decider.Evolve(r.Resource, fact)
	}
	if change, is := c.(hosting.Change); is {
		r.wanted = string(change.Spec["is_active"]) == "true"
	}
	h.records[ref] = r
}

func (h *home) rests() bool { return (&hosting.Tenant{Status: h.status}).OutOfService() }

// becomes changes the tenant's state and lets its records follow.
func (h *home) becomes(status string) {
	h.status = status
	var outOfStep []hosting.Ref
	for ref, r := range h.records {
		if kind, _ := hosting.KindNamed(ref.Kind); kind.CanBeDisabled && slices.Contains(r.DisabledBy, hosting.ByTenant) != h.rests() {
			outOfStep = append(outOfStep, ref)
		}
	}
	for _, c := range hosting.Following(h.rests(), outOfStep) {
		h.do(c.(hosting.Command))
	}
}

// make adds a record; in a tenant that rests it is halted from the start.
func (h *home) make(ref hosting.Ref, active bool) {
	if _, there := h.records[ref]; there {
		return
	}
	h.do(hosting.Request{Ref: ref, Tenant: 1})
	r := h.records[ref]
	r.wanted = active
	h.records[ref] = r
	if kind, _ := hosting.KindNamed(ref.Kind); h.rests() && kind.CanBeDisabled {
		h.do(hosting.Disable{Ref: ref, By: hosting.ByTenant})
	}
}

// bin puts site 1 into the bin, or brings it back.
func (h *home) bin(in bool) {
	site := hosting.Ref{Kind: "site", ID: 1}
	if h.records[site].Status == "" {
		return
	}
	for _, kind := range []string{"ftp_account", "shell_user", "ssl_certificate"} {
		part := hosting.Ref{Kind: kind, ID: 1}
		switch {
		case h.records[part].Status == "":
		case in:
			h.do(hosting.Disable{Ref: part, By: hosting.BySite})
		default:
			h.do(hosting.Enable{Ref: part, By: hosting.BySite})
		}
	}
	if in {
		h.do(hosting.MoveToBin{Ref: site})
	} else {
		h.do(hosting.Restore{Ref: site})
	}
}

func (r record) runs() bool { return r.wanted && len(r.DisabledBy) == 0 && !r.Trashed }

// running is what runs, by name.
func (h *home) running() map[hosting.Ref]bool {
	all := map[hosting.Ref]bool{}
	for ref, r := range h.records {
		all[ref] = r.runs()
	}
	return all
}

// Whatever happens between and during suspensions: while the tenant rests
// nothing runs but its zones, and once it does not, exactly what would run
// without any suspension does.
func TestASuspensionTakesBackExactlyWhatItDid(t *testing.T) {
	var refs []hosting.Ref
	for _, kind := range hosting.Kinds {
		if kind.Collection != "" && kind.Own() || kind.CanBeDisabled {
			refs = append(refs, hosting.Ref{Kind: kind.Name, ID: 1}, hosting.Ref{Kind: kind.Name, ID: 2})
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		with := &home{t: t, status: hosting.InService, records: map[hosting.Ref]record{}}
		without := &home{t: t, status: hosting.InService, records: map[hosting.Ref]record{}} // to whom no suspension happens
		both := func(do func(*home)) { do(with); do(without) }
		t.Repeat(map[string]func(*rapid.T){
			"make": func(t *rapid.T) {
				ref, active := rapid.SampledFrom(refs).Draw(t, "record"), rapid.Bool().Draw(t, "active")
				both(func(h *home) { h.make(ref, active) })
			},
			"switch": func(t *rapid.T) {
				ref, on := rapid.SampledFrom(refs).Draw(t, "record"), rapid.Bool().Draw(t, "on")
				value := json.RawMessage(fmt.Sprint(on))
				if r := with.records[ref]; r.Status != "" && !r.Trashed {
					both(func(h *home) { h.do(hosting.Change{Ref: ref, Spec: map[string]json.RawMessage{"is_active": value}}) })
				}
			},
			"bin":     func(*rapid.T) { both(func(h *home) { h.bin(true) }) },
			"restore": func(*rapid.T) { both(func(h *home) { h.bin(false) }) },
			"suspend": func(*rapid.T) { with.becomes(hosting.Suspended) },
			"active":  func(*rapid.T) { with.becomes(hosting.InService) },
			"": func(t *rapid.T) {
				for ref, runs := range with.running() {
					kind, _ := hosting.KindNamed(ref.Kind)
					rests := with.rests() && kind.CanBeDisabled
					if want := without.running()[ref] && !rests; runs != want {
						t.Fatalf("%s runs: %v; the tenant is %s", ref.Stream(), runs, with.status)
					}
				}
			},
		})
		with.becomes(hosting.InService)
		for ref, r := range with.records {
			if other := without.records[ref]; !slices.Equal(
				r.DisabledBy, other.DisabledBy,
			) || r.Trashed != other.Trashed || r.wanted != other.wanted {
				t.Fatalf("%s is %+v, not %+v", ref.Stream(), r, other)
			}
		}
	})
}
