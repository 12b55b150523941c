package webhook_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	sender "hostpanel/adapters/webhook"
	"hostpanel/domain"
)

var quiet = log.New(io.Discard, "", 0)

// A nameserver answers each question for an address with the next of a list,
// the last one again and again, and allows no caching.
type nameserver struct {
	answers []string
	asked   atomic.Int32
}

func (n *nameserver) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	a := new(dns.Msg).SetReply(q)
	if q.Question[0].Qtype == dns.TypeA {
		i := min(int(n.asked.Add(1)), len(n.answers)) - 1
		for address := range strings.FieldsSeq(n.answers[i]) {
			a.Answer = append(a.Answer, &dns.A{
				Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.ParseIP(address),
			})
		}
	}
	_ = w.WriteMsg(a)
}

// resolver starts the server.
func (n *nameserver) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: c, Handler: n}
	go func() { _ = s.ActivateAndServe() }()
	t.Cleanup(func() { _ = s.Shutdown() })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", c.LocalAddr().String())
	}}
}

// What a name leads to is looked at when it is called, every time. That it led
// to the internet when it was registered, or a moment ago, does not matter.
func TestANameThatComesToLeadToUsIsRefused(t *testing.T) {
	port, reached := forbidden(t)
	n := &nameserver{answers: []string{"93.184.216.34", "127.0.0.1"}}
	o := sender.Options{Resolver: n.resolver(t)}
	if found, err := o.Resolver.LookupHost(t.Context(), "rebinding.example"); err != nil || found[0] != "93.184.216.34" {
		t.Fatalf("registered as %v, %v", found, err)
	}
	for _, address := range []string{"https://rebinding.example/", "http://rebinding.example:" + port + "/"} {
		_, err := sender.New(o).Deliver(t.Context(), address, [][]byte{secret}, created)
		if f := failure(t, err); f.Class != domain.Permanent || f.Code != "address_refused" {
			t.Errorf("%s: %+v", address, f)
		}
	}
	if reached.Load() != 0 || n.asked.Load() < 3 {
		t.Errorf("%d connections came through; the name was looked up %d times", reached.Load(), n.asked.Load())
	}
}

// One good address among bad ones makes none of them good.
func TestEachAddressOfANameIsJudgedForItself(t *testing.T) {
	_, reached := forbidden(t)
	n := &nameserver{answers: []string{"10.0.0.1 169.254.169.254 127.0.0.1"}}
	_, err := sender.New(sender.Options{Resolver: n.resolver(t)}).Deliver(t.Context(), "https://many.example/", [][]byte{secret}, created)
	if f := failure(t, err); f.Code != "address_refused" || reached.Load() != 0 {
		t.Errorf("%+v, %d connections", f, reached.Load())
	}
}

func TestANameOfANetworkThatMayBeCalledIsCalled(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		if !strings.HasPrefix(q.Host, "inside.example:") {
			t.Errorf("asked for %s", q.Host)
		}
	}))
	defer s.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	o := options()
	o.Resolver = (&nameserver{answers: []string{"127.0.0.1"}}).resolver(t)
	if status, err := sender.New(o).Deliver(t.Context(), "http://inside.example:"+port+
		"/", [][]byte{secret}, created); status != 200 || err != nil {
		t.Errorf("%d, %v", status, err)
	}
}

func TestANameThatLeadsNowhereIsTriedAgain(t *testing.T) {
	o := sender.Options{Resolver: (&nameserver{answers: []string{""}}).resolver(t)}
	_, err := sender.New(o).Deliver(t.Context(), "https://nowhere.example/", [][]byte{secret}, created)
	if f := failure(t, err); f.Class != domain.Transient || f.Code != "dns_failed" {
		t.Errorf("%+v", f)
	}
}
