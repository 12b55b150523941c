// Package proxmox makes virtual machines at Proxmox VE, over its API (docs/machines.md).
//
// A machine's number there follows from its name: "vm77" is the first number of the range
// plus 77. Proxmox refuses a second machine with a number, and the clone itself carries the
// panel's mark, so a clone whose answer was lost is found and never made again.
package proxmox

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// Settings say where a cluster is and how machines are made there.
type Settings struct {
	URL         string // of one node, or of what stands before them: "https://pve1:8006"
	TokenID     string // "hostpanel@pve!panel"
	Secret      string // of the token
	CAFile      string // certificates in PEM form that sign the cluster's; "": those of the system
	Fingerprint string // SHA-256 of the certificate instead, in hexadecimal digits

	Server       string // names it in queues and claims
	Installation string // of the panel

	Storage   string            // of the disks
	Linked    bool              // a disk shares what it can with the template, which is in the same storage
	FirstID   int64             // number of the machine "vm0"
	Templates map[string]string // name in the panel → number or name of the template; empty: all, by their names
	Rescue    string            // an image to start from, "local:iso/rescue.iso"; "": there is none

	Grace    time.Duration // that a guest has to shut down; 0: a minute
	Patience time.Duration // that a call waits for a task; 0: twenty seconds
}

// A Hypervisor is a cluster of Proxmox VE.
type Hypervisor struct {
	settings Settings
	api      *client
	tasks    *worker

	mu   sync.Mutex
	busy map[int64]bool // machines that a call is changing
}

var _ compute.Hypervisor = (*Hypervisor)(nil)

// New checks the settings. It sends nothing.
func New(s Settings) (*Hypervisor, error) {
	base, err := url.Parse(s.URL)
	switch {
	case err != nil || base.Scheme != "https" || base.Host == "":
		return nil, errors.New("proxmox: the address has to begin with https://")
	case !strings.Contains(s.TokenID, "!") || s.Secret == "":
		return nil, errors.New("proxmox: a token has the form user@realm!name, and a secret")
	case s.Storage == "":
		return nil, errors.New("proxmox: the storage of the disks has to be named")
	case s.FirstID < 100 || s.FirstID > 900_000_000:
		return nil, errors.New("proxmox: the first number of a machine is between 100 and 900000000")
	}
	trust, err := trusted(s)
	if err != nil {
		return nil, err
	}
	return open(s, trust), nil
}

// idleTimeout is how long a connection is kept: less than the five seconds of Proxmox, which would
// end it under a call.
const idleTimeout = 3 * time.Second

func open(s Settings, trust *tls.Config) *Hypervisor {
	s.Grace, s.Patience = cmp.Or(s.Grace, time.Minute), cmp.Or(s.Patience, 20*time.Second)
	api := &client{
		base: strings.TrimRight(s.URL, "/") + "/api2/json", token: "PVEAPIToken=" + s.TokenID + "=" + s.Secret,
		http: &http.Client{
			Transport:     &http.Transport{TLSClientConfig: trust, MaxIdleConnsPerHost: readers, IdleConnTimeout: idleTimeout},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	return &Hypervisor{
		settings: s, api: api, busy: map[int64]bool{},
		tasks: &worker{api: api, patience: s.Patience, poll: min(s.Patience/10, time.Second), tasks: map[int64]string{}},
	}
}

// Server implements [compute.Hypervisor].
func (h *Hypervisor) Server() string { return h.settings.Server }

// Numbers of machines that are not called "vm" and a number, such as those of trials, are
// drawn from their names, beyond those of the others.
const (
	drawnFrom = 10_000_000
	drawn     = 80_000_000
)

var (
	numbered = regexp.MustCompile(`^vm(\d{1,7})$`)
	label    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
)

// number is the machine's at Proxmox: as it was given out, else as it follows from its name.
func (h *Hypervisor) number(external string, m compute.Machine) (int64, error) {
	if n := whole(external); n > 0 {
		return n, nil
	}
	if !label.MatchString(m.Name) {
		return 0, permanentf("bad_name", "%q is no name of a machine", m.Name)
	}
	if found := numbered.FindStringSubmatch(m.Name); found != nil {
		return h.settings.FirstID + whole(found[1]), nil
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(m.Name))
	return h.settings.FirstID + drawnFrom + int64(sum.Sum32()%drawn), nil
}

// name is the one from which a number follows; "": it was drawn.
func (h *Hypervisor) name(number int64) string {
	if n := number - h.settings.FirstID; n < drawnFrom {
		return "vm" + strconv.FormatInt(n, 10)
	}
	return ""
}

// alone makes a call that changes a machine, one at a time.
func (h *Hypervisor) alone(external string, m compute.Machine, call func(id int64) error) error {
	id, err := h.number(external, m)
	if err != nil {
		return err
	}
	h.mu.Lock()
	busy := h.busy[id]
	h.busy[id] = true
	h.mu.Unlock()
	if busy {
		return onItsWay()
	}
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.busy, id)
	}()
	return call(id)
}

func permanent(code, text string) error { return domain.Fail(domain.Permanent, code, errors.New(text)) }

func permanentf(code, format string, args ...any) error {
	return domain.Fail(domain.Permanent, code, fmt.Errorf(format, args...))
}
