package libvirt

import (
	"context"
	"crypto/rand"
	"io"
	"net"
	"strconv"
	"time"

	rpc "github.com/digitalocean/go-libvirt"
	"libvirt.org/go/libvirtxml"

	"hostpanel/domain/compute"
)

// screenOpens is how long the password of a screen is valid.
const screenOpens = time.Minute

// Screen connects to a machine's screen, which listens on the loopback of its host.
func (h *Hypervisor) Screen(ctx context.Context, external string, m compute.Machine) (io.ReadWriteCloser, string, error) {
	if h.target.screen == nil || h.target.hollow {
		return nil, "", permanent("not_supported", "screens are reached over a local socket or SSH")
	}
	var address, password string
	err := h.write(ctx, "open the screen", func(s *session) error {
		g, err := h.ours(s, external, m)
		if err != nil {
			return err
		}
		address, password, err = h.unlock(s, g)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	screen, err := h.target.screen(ctx, address)
	if err != nil {
		return nil, "", unreachable("connect to the screen", err)
	}
	return screen, password, nil
}

// unlock sets a password of its own for one connection: the protocol counts eight bytes.
func (h *Hypervisor) unlock(s *session, g *guest) (address, password string, err error) {
	if !g.running() {
		return "", "", permanent("not_running", "the machine is off")
	}
	for _, graphic := range g.live.Devices.Graphics {
		if graphic.VNC == nil || graphic.VNC.Port <= 0 {
			continue
		}
		password = rand.Text()[:8]
		graphic.VNC.Passwd = password
		graphic.VNC.PasswdValidTo = h.Now().Add(screenOpens).UTC().Format("2006-01-02T15:04:05")
		graphic.VNC.Connected = "keep"
		text, err := (&libvirtxml.DomainGraphic{VNC: graphic.VNC}).Marshal()
		if err != nil {
			return "", "", err
		}
		err = s.DomainUpdateDeviceFlags(g.Domain, text, rpc.DomainDeviceModifyLive)
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(graphic.VNC.Port)), password, err
	}
	return "", "", permanent("not_supported", "the machine has no screen")
}
