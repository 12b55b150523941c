package proxmox

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/coder/websocket"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// Screen implements [compute.Hypervisor]. A node opens a port for it, on loopback and for
// ten seconds, and passes it on over a WebSocket. The ticket and the password count once.
func (h *Hypervisor) Screen(ctx context.Context, external string, m compute.Machine) (io.ReadWriteCloser, string, error) {
	v, err := h.own(ctx, external, m)
	if err != nil {
		return nil, "", err
	}
	if !v.running() {
		return nil, "", permanentf("off", "machine %d does not run", v.id)
	}
	var door struct {
		Ticket   string `json:"ticket"`
		Port     text   `json:"port"`
		Password string `json:"password"`
	}
	form := url.Values{"websocket": {"1"}, "generate-password": {"1"}}
	if err := h.api.call(ctx, http.MethodPost, v.path()+"/vncproxy", form, &door); err != nil {
		return nil, "", err
	}
	query := url.Values{"port": {string(door.Port)}, "vncticket": {door.Ticket}}
	screen, err := h.api.dial(ctx, v.path()+"/vncwebsocket", query)
	if door.Password == "" { // nodes before 8.x: the ticket is the password
		door.Password = door.Ticket
	}
	return screen, door.Password, err
}

// dial opens a WebSocket. It lasts longer than the call.
func (c *client) dial(ctx context.Context, path string, query url.Values) (io.ReadWriteCloser, error) {
	address := "wss" + strings.TrimPrefix(c.base, "https") + path + "?" + query.Encode()
	connection, response, err := websocket.Dial(ctx, address, &websocket.DialOptions{ //nolint:bodyclose // it has none left
		HTTPClient: c.http, HTTPHeader: http.Header{"Authorization": {c.token}}, Subprotocols: []string{"binary"},
	})
	if err != nil {
		if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
			return nil, refused(http.MethodGet, path, response, nil)
		}
		return nil, domain.Fail(domain.Transient, "unreachable", permanent("unreachable", "proxmox: no connection to the screen"))
	}
	connection.SetReadLimit(-1)
	return websocket.NetConn(context.WithoutCancel(ctx), connection, websocket.MessageBinary), nil
}
