package libvirttest

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// OverSSH starts a server of SSH before a socket of libvirt, and returns its address as virsh
// has it. The server knows one key, and passes connections on as sshd does.
func OverSSH(t testing.TB, driver, socket string) string {
	t.Helper()
	folder := t.TempDir()
	host, user := newKey(t, ""), newKey(t, filepath.Join(folder, "key"))
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	known := knownhosts.Line([]string{listener.Addr().String()}, host.PublicKey())
	if err := os.WriteFile(filepath.Join(folder, "known_hosts"), []byte(known+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "panel" || string(key.Marshal()) != string(user.PublicKey().Marshal()) {
			return nil, errors.New("not the panel")
		}
		return new(ssh.Permissions), nil
	}}
	config.AddHostKey(host)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go serveSSH(t.Context(), c, config)
		}
	}()
	query := url.Values{
		"socket": {socket}, "keyfile": {filepath.Join(folder, "key")}, "known_hosts": {filepath.Join(folder, "known_hosts")},
	}
	return (&url.URL{
		Scheme: driver + "+ssh", User: url.User("panel"), Host: listener.Addr().String(), Path: "/system", RawQuery: query.Encode(),
	}).String()
}

// newKey draws a key, and writes it to a file if there is a path.
func newKey(t testing.TB, path string) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	if path != "" {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

func serveSSH(ctx context.Context, c net.Conn, config *ssh.ServerConfig) {
	defer func() { _ = c.Close() }()
	_, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for channel := range channels {
		go forward(ctx, channel)
	}
}

// forward passes a connection to a socket or a port of this machine on.
func forward(ctx context.Context, channel ssh.NewChannel) {
	to, err := forwarded(ctx, channel)
	if err != nil {
		_ = channel.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	defer func() { _ = to.Close() }()
	from, requests, err := channel.Accept()
	if err != nil {
		return
	}
	defer func() { _ = from.Close() }()
	go ssh.DiscardRequests(requests)
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
}

func forwarded(ctx context.Context, channel ssh.NewChannel) (net.Conn, error) {
	switch channel.ChannelType() {
	case "direct-streamlocal@openssh.com":
		var to struct {
			Path, Reserved string
			Port           uint32
		}
		if err := ssh.Unmarshal(channel.ExtraData(), &to); err != nil {
			return nil, err
		}
		return new(net.Dialer).DialContext(ctx, "unix", to.Path)
	case "direct-tcpip":
		var to struct {
			Host       string
			Port       uint32
			Origin     string
			OriginPort uint32
		}
		if err := ssh.Unmarshal(channel.ExtraData(), &to); err != nil {
			return nil, err
		}
		return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port))))
	}
	return nil, errors.New("unknown")
}
