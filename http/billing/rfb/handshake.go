// Package rfb connects a browser with the screen of a machine: the beginning of the RFB
// protocol on both sides (RFC 6143, 7.1), and the bytes after it (docs/machines-console.md).
package rfb

import (
	"crypto/des" //nolint:gosec // the protocol's own authentication
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
)

// The security types of the protocol that are spoken here.
const (
	noSecurity = 1
	byPassword = 2 // "VNC Authentication"
)

const versionLength = 12 // of "RFB 003.008\n"

var (
	errNoRFB    = errors.New("the other side does not speak RFB")
	errSecurity = errors.New("there is no security type that both sides know")
	errRefused  = errors.New("the screen has refused the password")
)

// join signs in to a screen as its client. The password counts up to its eighth byte.
func join(screen io.ReadWriter, password string) error {
	minor, err := readVersion(screen)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(screen, "RFB 003.%03d\n", minor); err != nil {
		return fmt.Errorf("greet the screen: %w", err)
	}
	chosen, err := chooseSecurity(screen, minor, password)
	if err != nil {
		return err
	}
	if chosen == byPassword {
		if err := authenticate(screen, password); err != nil {
			return err
		}
	}
	if chosen == noSecurity && minor < 8 {
		return nil
	}
	result, err := read[uint32](screen)
	if err == nil && result != 0 {
		err = errRefused
	}
	return err
}

// readVersion is the minor version of the protocol that both sides know: 3, 7 or 8.
func readVersion(from io.Reader) (int, error) {
	text := make([]byte, versionLength)
	if _, err := io.ReadFull(from, text); err != nil {
		return 0, fmt.Errorf("read the version of the protocol: %w", err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(text), "RFB %03d.%03d\n", &major, &minor); err != nil || major != 3 {
		return 0, errNoRFB
	}
	switch {
	case minor >= 8:
		return 8, nil
	case minor == 7:
		return 7, nil
	}
	return 3, nil
}

// chooseSecurity agrees on a security type. Version 3 of the protocol lets the screen choose.
func chooseSecurity(screen io.ReadWriter, minor int, password string) (byte, error) {
	if minor == 3 {
		chosen, err := read[uint32](screen)
		if err == nil && chosen != noSecurity && chosen != byPassword {
			err = errSecurity
		}
		return byte(chosen), err
	}
	count, err := read[uint8](screen)
	if err != nil {
		return 0, err
	}
	offered := make([]byte, count)
	if _, err := io.ReadFull(screen, offered); err != nil {
		return 0, fmt.Errorf("read the security types: %w", err)
	}
	chosen := byte(noSecurity)
	if password != "" && slices.Contains(offered, byPassword) {
		chosen = byPassword
	}
	if !slices.Contains(offered, chosen) {
		return 0, errSecurity
	}
	if _, err := screen.Write([]byte{chosen}); err != nil {
		return 0, fmt.Errorf("choose a security type: %w", err)
	}
	return chosen, nil
}

// authenticate answers the challenge of a screen: encrypted by DES, with the password as
// the key, whose bits stand the other way round.
func authenticate(screen io.ReadWriter, password string) error {
	challenge, key := make([]byte, 2*des.BlockSize), make([]byte, des.BlockSize)
	if _, err := io.ReadFull(screen, challenge); err != nil {
		return fmt.Errorf("read the challenge: %w", err)
	}
	copy(key, password)
	for i := range key {
		key[i] = bits.Reverse8(key[i])
	}
	block, err := des.NewCipher(key) //nolint:gosec // see above
	if err != nil {
		return errSecurity
	}
	for half := challenge; len(half) > 0; half = half[des.BlockSize:] {
		block.Encrypt(half, half)
	}
	if _, err := screen.Write(challenge); err != nil {
		return fmt.Errorf("answer the challenge: %w", err)
	}
	return nil
}

// welcome lets a client in that has proved by other means who it is.
func welcome(client io.ReadWriter) error {
	if _, err := io.WriteString(client, "RFB 003.008\n"); err != nil {
		return fmt.Errorf("greet the client: %w", err)
	}
	minor, err := readVersion(client)
	if err != nil {
		return err
	}
	if minor == 3 {
		return write(client, uint32(noSecurity))
	}
	if err := write(client, [2]byte{1, noSecurity}); err != nil { // one security type
		return err
	}
	chosen, err := read[uint8](client)
	switch {
	case err != nil:
		return err
	case chosen != noSecurity:
		return errSecurity
	case minor == 7:
		return nil
	}
	return write(client, uint32(0)) // the client is in
}

func read[N uint8 | uint32](from io.Reader) (n N, err error) {
	if err = binary.Read(from, binary.BigEndian, &n); err != nil {
		err = fmt.Errorf("read of the handshake: %w", err)
	}
	return n, err
}

func write(to io.Writer, value any) error {
	if err := binary.Write(to, binary.BigEndian, value); err != nil {
		return fmt.Errorf("write of the handshake: %w", err)
	}
	return nil
}
