package paneltest

import (
	"context"
	"crypto/des" //nolint:gosec // as the protocol has it
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"net"
	"sync"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// ScreenPassword is that of the screens of [Screens] at the hypervisor.
const ScreenPassword = "hv-Geh3im!"

// Screens are screens of machines at a hypervisor, in the RFB protocol: one color, which
// each key that is pressed changes.
type Screens struct {
	mu    sync.Mutex
	open  []net.Conn
	Asked []hosting.Ref // for which machines a screen was asked for
	Keys  chan uint32   // that were pressed
	down  bool          // the hypervisor does not answer
	work  sync.WaitGroup
}

// NewScreens returns screens with room for so many keys.
func NewScreens(keys int) *Screens { return &Screens{Keys: make(chan uint32, keys)} }

// Screen connects to a screen.
func (s *Screens) Screen(_ context.Context, machine hosting.Ref) (io.ReadWriteCloser, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, "", domain.Fail(domain.Transient, "unreachable", errors.New("no route to the hypervisor"))
	}
	ours, theirs := net.Pipe()
	s.open, s.Asked = append(s.open, theirs), append(s.Asked, machine)
	s.work.Go(func() {
		_ = s.serve(theirs)
		_ = theirs.Close()
	})
	return ours, ScreenPassword, nil
}

// Refuse lets the hypervisor answer for no screen, or answer again.
func (s *Screens) Refuse(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// SwitchOff ends all screens.
func (s *Screens) SwitchOff() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.open {
		_ = c.Close()
	}
	s.open = nil
}

// Wait waits until the panel has left all screens.
func (s *Screens) Wait() { s.work.Wait() }

const width, height = 64, 48

// serve is the side of the hypervisor.
func (s *Screens) serve(c net.Conn) error {
	if err := admit(c); err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, c, 1); err != nil { // whether others may look as well
		return err
	}
	begin := []any{
		uint16(width), uint16(height), [16]byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16}, uint32(4), [4]byte{'v', 'm', '7', '7'},
	}
	if err := send(c, begin...); err != nil {
		return err
	}
	color := uint32(0x204080)
	for {
		key, wanted, err := next(c)
		switch {
		case err != nil:
			return err
		case key != 0:
			s.Keys <- key
			color = color*7 + key
		case !wanted:
			continue
		}
		if err := send(c, [4]byte{0, 0, 0, 1}, [4]uint16{0, 0, width, height}, uint32(0), filled(color&0xffffff)); err != nil {
			return err
		}
	}
}

// admit asks for the password.
func admit(c net.Conn) error {
	if err := send(c, []byte("RFB 003.008\n")); err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, c, 12); err != nil {
		return err
	}
	challenge, answer, key := make([]byte, 16), make([]byte, 16), make([]byte, 8)
	copy(challenge, "sixteen bytes...")
	if err := send(c, [2]byte{1, 2}); err != nil { // the password alone
		return err
	}
	if _, err := io.CopyN(io.Discard, c, 1); err != nil {
		return err
	}
	if err := send(c, challenge); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, answer); err != nil {
		return err
	}
	copy(key, ScreenPassword)
	for i := range key {
		key[i] = bits.Reverse8(key[i])
	}
	block, err := des.NewCipher(key) //nolint:gosec // as the protocol has it
	if err != nil {
		return err
	}
	block.Encrypt(challenge, challenge)
	block.Encrypt(challenge[8:], challenge[8:])
	if string(challenge) != string(answer) {
		_ = send(c, uint32(1))
		return errors.New("wrong password")
	}
	return send(c, uint32(0))
}

// next is a key that was pressed, or whether a picture is wanted.
func next(c net.Conn) (key uint32, wanted bool, err error) {
	head := make([]byte, 1)
	if _, err := io.ReadFull(c, head); err != nil {
		return 0, false, err
	}
	lengths := map[byte]int64{0: 19, 2: 3, 3: 9, 4: 7, 5: 5, 6: 7}
	body := make([]byte, lengths[head[0]])
	if _, err := io.ReadFull(c, body); err != nil {
		return 0, false, err
	}
	switch head[0] {
	case 2: // encodings
		_, err = io.CopyN(io.Discard, c, 4*int64(binary.BigEndian.Uint16(body[1:])))
	case 3:
		wanted = body[0] == 0
	case 4:
		if body[0] == 1 {
			key = binary.BigEndian.Uint32(body[3:])
		}
	case 6: // the clipboard
		_, err = io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(body[3:])))
	}
	return key, wanted, err
}

// filled is a picture of one color.
func filled(color uint32) []byte {
	picture := make([]byte, 0, 4*width*height)
	for range width * height {
		picture = binary.LittleEndian.AppendUint32(picture, color)
	}
	return picture
}

// send writes values, all at once.
func send(c net.Conn, values ...any) (err error) {
	var b []byte
	for _, v := range values {
		if b, err = binary.Append(b, binary.BigEndian, v); err != nil {
			return err
		}
	}
	_, err = c.Write(b)
	return err
}
