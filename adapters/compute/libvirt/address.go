package libvirt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	rpc "github.com/digitalocean/go-libvirt"
	"github.com/digitalocean/go-libvirt/socket/dialers"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// A target is how a hypervisor is reached.
type target struct {
	hollow bool // libvirt's driver for tests, whose machines and volumes have no contents
	uri    rpc.ConnectURI
	dial   func(context.Context) (net.Conn, error)
	screen func(context.Context, string) (net.Conn, error) // to an address of the host; nil: there is no way
}

// parse reads an address as virsh has it. Addresses of a machine in the network carry TLS
// or SSH: a clear connection has no place here.
func parse(address string) (target, error) {
	u, err := url.Parse(address)
	if err != nil {
		return target{}, errors.New("it is not a URL")
	}
	driver, transport, _ := strings.Cut(u.Scheme, "+")
	forTests, _, _ := strings.Cut(string(rpc.TestDefault), ":")
	if driver != "qemu" && driver != forTests {
		return target{}, fmt.Errorf("drivers are qemu and %s, not %q", forTests, driver)
	}
	t := target{hollow: driver == forTests, uri: rpc.RemoteURI(u)}
	if transport == "" && u.Host != "" {
		transport = "tls"
	}
	switch transport {
	case "", "unix":
		t.local(u)
	case "tls":
		t.tls(u)
	case "ssh":
		t.ssh(u)
	default:
		return target{}, fmt.Errorf("transports are unix, tls and ssh, not %q", transport)
	}
	return t, nil
}

const defaultSocket = "/var/run/libvirt/libvirt-sock"

func dialFrom(dialer *net.Dialer, network, address string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, network, address) }
}

func (t *target) local(u *url.URL) {
	t.dial = dialFrom(new(net.Dialer), "unix", cmp.Or(u.Query().Get("socket"), defaultSocket))
	t.screen = func(ctx context.Context, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
}

// tls reads certificates from the folder "pkipath", else from where libvirt has them. The
// library's dialer knows no context; it ends by itself after 20 seconds.
func (t *target) tls(u *url.URL) {
	options := []dialers.TLSOption{dialers.UseTLSPort(cmp.Or(u.Port(), "16514"))}
	if folder := u.Query().Get("pkipath"); folder != "" {
		options = append(options, dialers.UsePKIPath(folder))
	}
	t.dial = func(ctx context.Context) (net.Conn, error) {
		type answer struct {
			net.Conn
			error
		}
		answers := make(chan answer, 1)
		go func() {
			c, err := dialers.NewTLS(u.Hostname(), options...).Dial()
			answers <- answer{c, err}
			if ctx.Err() != nil && err == nil {
				_ = c.Close()
			}
		}()
		select {
		case a := <-answers:
			return a.Conn, a.error
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ssh signs in with the key of a file, to a host whose own key is known.
func (t *target) ssh(u *url.URL) {
	t.dial = func(ctx context.Context) (net.Conn, error) {
		return throughSSH(ctx, u, "unix", cmp.Or(u.Query().Get("socket"), defaultSocket))
	}
	t.screen = func(ctx context.Context, address string) (net.Conn, error) { return throughSSH(ctx, u, "tcp", address) }
}

// A tunnel is a connection through one of SSH, which ends with it.
type tunnel struct {
	net.Conn

	through *ssh.Client
}

func (t tunnel) Close() error { return errors.Join(t.Conn.Close(), t.through.Close()) }

func throughSSH(ctx context.Context, u *url.URL, network, address string) (net.Conn, error) {
	client, err := signIn(ctx, u)
	if err != nil {
		return nil, err
	}
	c, err := client.DialContext(ctx, network, address)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connect to %s of the host: %w", address, err), client.Close())
	}
	return tunnel{c, client}, nil
}

func signIn(ctx context.Context, u *url.URL) (*ssh.Client, error) {
	config, err := sshConfig(u)
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "22"))
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	c, channels, requests, err := ssh.NewClientConn(raw, address, config)
	if !stop() || err != nil {
		return nil, errors.Join(ctx.Err(), err, raw.Close())
	}
	return ssh.NewClient(c, channels, requests), nil
}

func sshConfig(u *url.URL) (*ssh.ClientConfig, error) {
	home, _ := os.UserHomeDir()
	text, err := os.ReadFile(cmp.Or(u.Query().Get("keyfile"), filepath.Join(home, ".ssh", "id_ed25519")))
	if err != nil {
		return nil, fmt.Errorf("read the key for SSH: %w", err)
	}
	key, err := ssh.ParsePrivateKey(text)
	if err != nil {
		return nil, errors.New("the file for SSH has no private key without a passphrase")
	}
	known, err := knownhosts.New(cmp.Or(u.Query().Get("known_hosts"), filepath.Join(home, ".ssh", "known_hosts")))
	if err != nil {
		return nil, fmt.Errorf("read the keys of known hosts: %w", err)
	}
	return &ssh.ClientConfig{
		User: cmp.Or(u.User.Username(), "root"), HostKeyCallback: known, Auth: []ssh.AuthMethod{ssh.PublicKeys(key)},
	}, nil
}
