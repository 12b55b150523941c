package enginetest

import (
	"crypto/sha1"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/domain/hosting"
)

const aZone = `$TTL 3600
@       IN      SOA     ns1.example.test. hostmaster.acme.test. (
                        2026112203       ; serial, todays date + todays serial #
                        7200              ; refresh, seconds
                        3600 )            ; minimum, seconds
acme.test. 3600      NS         ns1.example.test.
www 3600      A          192.0.2.10
@ 3600      MX     10  mx.acme.test.
txt.acme.test. 3600      TXT        "say \"hello\" \\ \195\164" " ; two"
`

func TestAZoneIsReadFromTheFileThatBINDTook(t *testing.T) {
	folder := t.TempDir()
	s := Servers{Zone: ZoneFiles(folder, "pri."), NameServers: []string{"ns1.example.test."}}
	zone := hosting.EngineObject{Kind: "dns_zone", Name: "acme.test."}
	if s.Serves(t.Context(), zone) == nil {
		t.Error("a zone without a file is served")
	}
	file := filepath.Join(folder, "pri.acme.test")
	if err := os.WriteFile(file, []byte(aZone), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Serves(t.Context(), zone); err != nil {
		t.Error(err)
	}
	for _, name := range []string{
		"www.acme.test. A 0 192.0.2.10", "acme.test. MX 10 mx.acme.test.",
		`txt.acme.test. TXT 0 say "hello" \ ä ; two`,
	} {
		if err := s.Serves(t.Context(), hosting.EngineObject{Kind: "dns_record", Name: "acme.test. " + name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.Serves(t.Context(), hosting.EngineObject{Kind: "dns_record", Name: "acme.test. www.acme.test. A 0 192.0.2.11"}) == nil {
		t.Error("another address is served")
	}
	s.NameServers = append(s.NameServers, "ns2.example.test.")
	if s.Serves(t.Context(), zone) == nil {
		t.Error("a zone with one of two name servers is whole")
	}
	if err := os.WriteFile(file+".err", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Serves(t.Context(), zone); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("BIND refused the zone: %v", err)
	}
}

// databaseServer knows the hash of one password, as MariaDB does, and lets in
// who proves to know it. With another, it asks for the method first.
func databaseServer(t *testing.T, password, method string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go serveDatabase(c, password, method)
		}
	}()
	return listener.Addr().String()
}

const salt = "12345678abcdefghijkl"

func serveDatabase(c net.Conn, password, method string) {
	defer func() { _ = c.Close() }()
	greeting := "\x0a10.11.0-MariaDB\x00\x01\x00\x00\x00" + salt[:8] + "\x00\xff\xf7\x2d\x02\x00\xff\x81\x15" +
		strings.Repeat("\x00", 10) + salt[8:] + "\x00" + method + "\x00"
	_ = reply(c, 0, []byte(greeting))
	_, login, err := packet(c)
	if err != nil {
		return
	}
	user, rest, _ := strings.Cut(string(login[32:]), "\x00")
	proof := []byte(rest[1 : 1+rest[0]])
	if method != loginMethod {
		_ = reply(c, 2, []byte("\xfe"+loginMethod+"\x00"+salt+"\x00"))
		if _, proof, err = packet(c); err != nil {
			return
		}
	}
	if user == "shop" && proves(proof, password) {
		_ = reply(c, 4, []byte{0, 0, 0, 2, 0, 0, 0})
		return
	}
	_ = reply(c, 4, []byte("\xff\x15\x04#28000Access denied"))
}

func proves(proof []byte, password string) bool {
	once := sha1.Sum([]byte(password))
	known := sha1.Sum(once[:])
	mask := sha1.Sum(append([]byte(salt), known[:]...))
	for i := range mask {
		mask[i] ^= proof[i]
	}
	return sha1.Sum(mask[:]) == known
}

func TestALoginToADatabaseIsTried(t *testing.T) {
	for _, method := range []string{loginMethod, "caching_sha2_password"} {
		address := databaseServer(t, "right", method)
		if err := LogIn(t.Context(), address, "shop", "right", "shop"); err != nil {
			t.Errorf("%s: %v", method, err)
		}
		err := LogIn(t.Context(), address, "shop", "wrong", "shop")
		if err == nil || !strings.Contains(err.Error(), "1045") || strings.Contains(err.Error(), "wrong") {
			t.Errorf("%s: %v", method, err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		if c, err := listener.Accept(); err == nil {
			_, _ = io.WriteString(c, "\x03\x00\x00\x00SSH")
			_ = c.Close()
		}
	}()
	if err := LogIn(t.Context(), listener.Addr().String(), "shop", "right", "shop"); err == nil {
		t.Error("something else is a database server")
	}
}
