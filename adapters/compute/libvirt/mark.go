package libvirt

import (
	"encoding/xml"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"

	rpc "github.com/digitalocean/go-libvirt"
	"libvirt.org/go/libvirtxml"

	"hostpanel/domain/compute"
)

const (
	markSpace     = "https://hostpanel.dev/xmlns/machine/1"
	shutdownSpace = "https://hostpanel.dev/xmlns/shutdown/1"
	creationSpace = "https://hostpanel.dev/xmlns/creation/1"
)

// A mark is the panel's part of a domain's metadata. libvirt copies the metadata of the
// definition when a machine starts: that copy says as which boot the machine runs.
type mark struct {
	XMLName      xml.Name `xml:"https://hostpanel.dev/xmlns/machine/1 machine"`
	Installation string   `xml:"installation,attr"`
	Service      string   `xml:"service,attr"`
	Generation   int64    `xml:"generation,attr"`
	Boot         int64    `xml:"boot,attr"`
	Disk         int64    `xml:"disk,attr"`
	Rescue       bool     `xml:"rescue,attr"`
	Hostname     string   `xml:"hostname,attr"`
	Addresses    string   `xml:"addresses,attr"` // with blanks between them
}

// A shutdown is in the metadata of a running machine that was asked to shut down.
type shutdown struct {
	XMLName    xml.Name `xml:"https://hostpanel.dev/xmlns/shutdown/1 shutdown"`
	Since      string   `xml:"since,attr"`
	Generation int64    `xml:"generation,attr"`
}

func markOf(c Config, m compute.Machine) mark {
	return mark{
		Installation: c.Installation, Service: m.Service, Generation: m.Generation, Boot: m.Boot, Disk: m.Disk, Rescue: m.Rescue,
		Hostname: m.Hostname, Addresses: strings.Trim(fmt.Sprint(m.Network.Addresses), "[]"),
	}
}

// given are the addresses that the machine was given.
func (k mark) given() (all []netip.Addr) {
	for text := range strings.FieldsSeq(k.Addresses) {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, p.Addr())
		}
	}
	return all
}

// ourElements are those of this package. libvirt gives some of them a prefix.
var ourElements = regexp.MustCompile(
	`<(?:\w+:)?\w+ xmlns(?::\w+)?="https://hostpanel\.dev/xmlns/\w+/1"[^>]*?(?:/>|>\s*</(?:\w+:)?\w+>)`,
)

// unfinished is in the definition of a machine that is to run and has not been started yet.
const unfinished = `<creation xmlns="` + creationSpace + `"/>`

// put sets the mark in the metadata of a definition, beside what others have there.
func (k mark) put(d *libvirtxml.Domain) error {
	k.XMLName = xml.Name{}
	text, err := xml.Marshal(k)
	if err != nil {
		return err
	}
	if d.Metadata == nil {
		d.Metadata = new(libvirtxml.DomainMetadata)
	}
	d.Metadata.XML = ourElements.ReplaceAllString(d.Metadata.XML, "") + string(text)
	return nil
}

// A note is all that this package has in the metadata of a domain.
type note struct {
	Mark     mark      `xml:"https://hostpanel.dev/xmlns/machine/1 machine"`
	Shutdown shutdown  `xml:"https://hostpanel.dev/xmlns/shutdown/1 shutdown"`
	Creation *struct{} `xml:"https://hostpanel.dev/xmlns/creation/1 creation"`
}

// noteOf reads a domain's metadata. What is not there is zero.
func noteOf(d *libvirtxml.Domain) (n note, err error) {
	if d == nil || d.Metadata == nil {
		return n, nil
	}
	if err := xml.Unmarshal([]byte("<metadata>"+d.Metadata.XML+"</metadata>"), &n); err != nil {
		return n, permanent("mark", "the metadata of %q is not XML: %w", d.Name, err)
	}
	return n, nil
}

// noteCreated takes back that a machine is unfinished.
func (s *session) noteCreated(d rpc.Domain) error {
	return s.setMetadata(d, nil, creationSpace, rpc.DomainAffectConfig)
}

// noteShutdown writes down that a running machine was asked to shut down. With its end the
// note is gone.
func (s *session) noteShutdown(d rpc.Domain, at time.Time, generation int64) error {
	note := fmt.Sprintf(`<shutdown since=%q generation="%d"/>`, at.UTC().Format(time.RFC3339), generation)
	return s.setMetadata(d, rpc.OptString{note}, shutdownSpace, rpc.DomainAffectLive)
}

func (s *session) setMetadata(d rpc.Domain, element rpc.OptString, space string, impact rpc.DomainModificationImpact) error {
	return s.DomainSetMetadata(d, int32(rpc.DomainMetadataElement), element, rpc.OptString{"hostpanel"}, rpc.OptString{space}, impact)
}
