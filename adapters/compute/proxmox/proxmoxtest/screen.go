package proxmoxtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/coder/websocket"
)

// ScreenPassword is that of every screen.
const ScreenPassword = `T!ck3t_8`

func vncProxy(s *Server, m *machine, r request) (any, error) {
	if _, err := s.begin("vncproxy", m.node, r.path["vmid"], func() string { return "" }); err != nil {
		return nil, err
	}
	port := 5900 + len(s.screens)
	ticket := fmt.Sprintf("%s:PVEVNC:%08X::c2lnbmVk+/==", ScreenPassword, s.clock)
	s.screens[strconv.Itoa(port)+ticket] = m.id
	return map[string]any{
		"user": Token, "ticket": ticket, "port": port, "upid": s.tasks[len(s.tasks)-1].upid, "cert": "", "password": ScreenPassword,
	}, nil
}

// screen is the other side of a WebSocket: a machine whose screen only greets.
func (s *Server) screen(w http.ResponseWriter, r *http.Request) {
	if err := s.enter(r); err != nil {
		err.(*refusal).write(w) //nolint:forcetypeassert,errorlint // there are no others
		return
	}
	connection, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"binary"}})
	if err != nil {
		return
	}
	defer connection.CloseNow() //nolint:errcheck // it is over
	if connection.Write(r.Context(), websocket.MessageBinary, []byte("RFB 003.008\n")) != nil {
		return
	}
	if _, said, err := connection.Read(r.Context()); err != nil || !strings.HasPrefix(string(said), "RFB 003.") {
		return
	}
	_ = connection.Write(r.Context(), websocket.MessageBinary, []byte{1, 2}) // one way to sign in: with the password
	_, _, _ = connection.Read(r.Context())
}

// enter checks the ticket, which counts once.
func (s *Server) enter(r *http.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(1)
	if err := s.admit(r); err != nil {
		return err
	}
	key := r.FormValue("port") + r.FormValue("vncticket")
	id, is := s.screens[key]
	if !is || !strings.Contains(r.URL.Path, fmt.Sprintf("/qemu/%d/", id)) {
		return &refusal{status: http.StatusUnauthorized, text: "Permission check failed - invalid PVEVNC ticket"}
	}
	delete(s.screens, key)
	return s.allowed("VM.Console", fmt.Sprintf("/vms/%d", id))
}
