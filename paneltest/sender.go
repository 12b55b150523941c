package paneltest

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// TxtRecords are a name server with TXT records.
type TxtRecords struct {
	Mu     sync.Mutex
	texts  map[string][]string
	Failed bool
}

func (n *TxtRecords) Publish(name string, texts ...string) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.texts = map[string][]string{name: texts}
}

func (n *TxtRecords) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	a, name := new(dns.Msg).SetReply(q), q.Question[0].Name
	for _, text := range n.texts[name] {
		a.Answer = append(a.Answer, &dns.TXT{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeTXT, Class: dns.ClassINET}, Txt: []string{text}})
	}
	if len(a.Answer) == 0 {
		a.Rcode = dns.RcodeNameError
	}
	if n.Failed {
		a.Rcode, a.Answer = dns.RcodeServerFailure, nil
	}
	_ = w.WriteMsg(a)
}

// Resolver starts the server.
func (n *TxtRecords) Resolver(t *testing.T) *net.Resolver {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: c, Handler: n}
	go func() { _ = server.ActivateAndServe() }()
	t.Cleanup(func() { _ = server.Shutdown() })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", c.LocalAddr().String())
	}}
}
