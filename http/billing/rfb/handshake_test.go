package rfb

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"testing"
)

// A side of the protocol whose words are written down before.
type side struct {
	io.Reader
	said bytes.Buffer
}

func (s *side) Write(p []byte) (int, error) { return s.said.Write(p) }

func saying(words string) *side { return &side{Reader: bytes.NewReader([]byte(words))} }

// challenge is the one that noVNC's own code has answered with answer, for the password "hv-secret!".
const (
	challenge = "\x01\x08\x0f\x16\x1d\x24\x2b\x32\x39\x40\x47\x4e\x55\x5c\x63\x6a"
	answer    = "850739d8b22e561c0da314e7fbabf04b"
)

func TestAScreenIsSignedInToInEachVersionOfTheProtocol(t *testing.T) {
	encrypted, err := hex.DecodeString(answer)
	if err != nil {
		t.Fatal(err)
	}
	ok, refused, right := "\x00\x00\x00\x00", "\x00\x00\x00\x01", string(encrypted)
	const secret = "hv-secret!"
	for name, c := range map[string]struct {
		screen, password string
		said             string
		err              error
	}{
		"3.8 with the password":    {"RFB 003.008\n\x02\x01\x02" + challenge + ok, secret, "RFB 003.008\n\x02" + right, nil},
		"3.8 without":              {"RFB 003.008\n\x01\x01" + ok, "", "RFB 003.008\n\x01", nil},
		"3.889 of a Mac":           {"RFB 003.889\n\x01\x01" + ok, "", "RFB 003.008\n\x01", nil},
		"3.7 without":              {"RFB 003.007\n\x01\x01", "", "RFB 003.007\n\x01", nil},
		"3.3 with the password":    {"RFB 003.003\n\x00\x00\x00\x02" + challenge + ok, secret, "RFB 003.003\n" + right, nil},
		"3.3 without":              {"RFB 003.003\n\x00\x00\x00\x01", "", "RFB 003.003\n", nil},
		"a wrong password":         {"RFB 003.008\n\x01\x02" + challenge + refused, secret, "RFB 003.008\n\x02" + right, errRefused},
		"a password, and none set": {"RFB 003.008\n\x01\x02", "", "RFB 003.008\n", errSecurity},
		"a screen that is full":    {"RFB 003.008\n\x00", "", "RFB 003.008\n", errSecurity},
		"another security":         {"RFB 003.003\n\x00\x00\x00\x13", "", "RFB 003.003\n", errSecurity},
		"no screen":                {"HTTP/1.1 400", "", "", errNoRFB},
		"a screen that ends":       {"RFB 003.008\n\x02", "", "RFB 003.008\n", io.ErrUnexpectedEOF},
	} {
		screen := saying(c.screen)
		err := join(screen, c.password)
		if !errors.Is(err, c.err) && (!errors.Is(c.err, io.ErrUnexpectedEOF) || !errors.Is(err, io.EOF)) || screen.said.String() != c.said {
			t.Errorf("%s: %v, said %q", name, err, screen.said.String())
		}
	}
}

func TestABrowserNeedsNoPassword(t *testing.T) {
	for name, c := range map[string]struct {
		client, said string
		err          error
	}{
		"3.8":                         {"RFB 003.008\n\x01", "RFB 003.008\n\x01\x01\x00\x00\x00\x00", nil},
		"3.7":                         {"RFB 003.007\n\x01", "RFB 003.008\n\x01\x01", nil},
		"3.3":                         {"RFB 003.003\n", "RFB 003.008\n\x00\x00\x00\x01", nil},
		"a type that was not offered": {"RFB 003.008\n\x02", "RFB 003.008\n\x01\x01", errSecurity},
		"version 4":                   {"RFB 004.000\n", "RFB 003.008\n", errNoRFB},
	} {
		client := saying(c.client)
		if err := welcome(client); !errors.Is(err, c.err) || client.said.String() != c.said {
			t.Errorf("%s: %v, said %q", name, err, client.said.String())
		}
	}
}
