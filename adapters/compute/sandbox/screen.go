package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"

	"hostpanel/adapters/faults"
	"hostpanel/domain/compute"
)

// Screen connects to a picture of one colour, which changes with each key. It asks for no
// password.
func (c *Cluster) Screen(ctx context.Context, external string, m compute.Machine) (io.ReadWriteCloser, string, error) {
	err := c.ordered.Around(ctx, faults.Call{Call: faults.Find, Kind: "screen", Name: m.Name}, func(faults.Fault) error {
		has, err := c.one(ctx, external, m)
		if err == nil && has.state == compute.Stopped {
			err = errOff
		}
		return unanswered("connect to the screen", err)
	})
	if err != nil {
		return nil, "", err
	}
	ours, theirs := net.Pipe()
	go func() {
		defer func() { _ = theirs.Close() }()
		_ = (&display{Conn: theirs, name: m.Name, shifts: [3]byte{16, 8, 0}, changed: true}).serve() // it ends with the connection
	}()
	return ours, "", nil
}

// width and height are those of the picture.
const width, height = 320, 200

// A display is a server of RFB 3.8 (RFC 6143) for one client.
type display struct {
	net.Conn

	name    string
	shifts  [3]byte // where red, green and blue stand in a pixel of 32 bits
	order   binary.ByteOrder
	color   int
	changed bool // since the client was told
	awaited bool // the client waits for a change
}

// colors are what the picture has in turn: red, green, blue.
var colors = [][3]byte{{24, 48, 96}, {24, 96, 48}}

func (d *display) serve() error {
	d.order = binary.LittleEndian
	if err := d.greet(); err != nil {
		return err
	}
	for {
		var kind [1]byte
		if _, err := io.ReadFull(d, kind[:]); err != nil {
			return err
		}
		if err := d.answer(kind[0]); err != nil {
			return err
		}
	}
}

// greet agrees on the version and on no authentication, and tells the size and the name.
func (d *display) greet() error {
	const version = "RFB 003.008\n"
	if err := d.exchange([]byte(version), len(version)); err != nil {
		return err
	}
	if err := d.exchange([]byte{1, 1}, 1); err != nil { // one kind of authentication: none
		return err
	}
	if err := d.exchange(make([]byte, 4), 1); err != nil { // it has succeeded
		return err
	}
	start := binary.BigEndian.AppendUint16(nil, width)
	start = binary.BigEndian.AppendUint16(start, height)
	start = append(start, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, d.shifts[0], d.shifts[1], d.shifts[2], 0, 0, 0)
	start = binary.BigEndian.AppendUint32(start, uint32(len(d.name))) //nolint:gosec // at most 63
	_, err := d.Write(append(start, d.name...))
	return err
}

// exchange writes, and reads what the client says to it.
func (d *display) exchange(say []byte, hear int) error {
	if _, err := d.Write(say); err != nil {
		return err
	}
	_, err := d.read(hear)
	return err
}

func (d *display) read(n int) ([]byte, error) {
	all := make([]byte, n)
	_, err := io.ReadFull(d, all)
	return all, err
}

// sizes are how long the messages of a client are, without their kind.
var sizes = map[byte]int{0: 19, 2: 3, 3: 9, 4: 7, 5: 5, 6: 7}

// longest is how much text a client may paste.
const longest = 1 << 20

func (d *display) answer(kind byte) error {
	size, known := sizes[kind]
	if !known {
		return errors.New("a message of no known kind")
	}
	message, err := d.read(size)
	if err != nil {
		return err
	}
	switch kind {
	case 0:
		return d.usePixels(message[3:])
	case 2:
		_, err = d.read(4 * int(binary.BigEndian.Uint16(message[1:])))
		return err
	case 3:
		d.changed, d.awaited = d.changed || message[0] == 0, true
	case 4:
		if message[0] == 1 {
			d.color, d.changed = (d.color+1)%len(colors), true
		}
	case 6:
		_, err = io.CopyN(io.Discard, d, min(int64(binary.BigEndian.Uint32(message[3:])), longest))
		return err
	}
	return d.show()
}

func (d *display) usePixels(format []byte) error {
	if format[0] != 32 {
		return errors.New("a pixel has 32 bits")
	}
	if d.order = binary.LittleEndian; format[2] != 0 {
		d.order = binary.BigEndian
	}
	copy(d.shifts[:], format[10:13])
	return nil
}

// show sends the picture to a client that waits for a change.
func (d *display) show() error {
	if !d.changed || !d.awaited {
		return nil
	}
	d.changed, d.awaited = false, false
	var value uint32
	for i, part := range colors[d.color] {
		value |= uint32(part) << d.shifts[i]
	}
	pixel := make([]byte, 4)
	d.order.PutUint32(pixel, value)
	picture := []byte{0, 0, 0, 1, 0, 0, 0, 0, width >> 8, width & 255, height >> 8, height & 255, 0, 0, 0, 0} // one raw rectangle
	_, err := d.Write(append(picture, bytes.Repeat(pixel, width*height)...))
	return err
}
