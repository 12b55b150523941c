package enginetest

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// What we say of ourselves to a database server: protocol 4.1, a login with a
// database, and the method by name.
const loginFlags = 0x1 | 0x8 | 0x200 | 0x8000 | 0x80000

const loginMethod = "mysql_native_password"

// LogIn logs in to a MariaDB or MySQL server with a database, as its owner's
// program would, and leaves.
func LogIn(ctx context.Context, address, user, password, database string) error {
	connection, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("reach the database server: %w", err)
	}
	defer func() { _ = connection.Close() }()
	if err := connection.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return fmt.Errorf("reach the database server: %w", err)
	}
	_, greeting, err := packet(connection)
	if err != nil {
		return err
	}
	salt, err := saltOf(greeting)
	if err != nil {
		return err
	}
	if err := reply(connection, 1, credentials(user, scramble(password, salt), database)); err != nil {
		return err
	}
	return admitted(connection, password)
}

// admitted reads the server's answer to a login. It may ask for another method,
// or for the same with another salt.
func admitted(connection io.ReadWriter, password string) error {
	number, answer, err := packet(connection)
	if err == nil && answer[0] == 0xfe {
		method, salt, _ := bytes.Cut(answer[1:], []byte{0})
		if string(method) != loginMethod || len(salt) < 20 {
			return fmt.Errorf("the database server wants to log in by %q", method)
		}
		if err := reply(connection, number+1, scramble(password, salt[:20])); err != nil {
			return err
		}
		_, answer, err = packet(connection)
	}
	switch {
	case err != nil:
		return err
	case answer[0] == 0xff && len(answer) > 2:
		return fmt.Errorf("the database server refuses the login: error %d", binary.LittleEndian.Uint16(answer[1:]))
	case answer[0] != 0:
		return errors.New("the database server answers something else")
	}
	return nil
}

func packet(from io.Reader) (number byte, body []byte, err error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(from, head); err != nil {
		return 0, nil, fmt.Errorf("read from the database server: %w", err)
	}
	body = make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	if _, err := io.ReadFull(from, body); err != nil || len(body) == 0 {
		return 0, nil, errors.New("the database server breaks off")
	}
	return head[3], body, nil
}

func reply(to io.Writer, number byte, body []byte) error {
	head := []byte{byte(len(body)), byte(len(body) >> 8), byte(len(body) >> 16), number}
	if _, err := to.Write(append(head, body...)); err != nil {
		return fmt.Errorf("write to the database server: %w", err)
	}
	return nil
}

// saltOf reads the two parts of the salt in a greeting.
func saltOf(greeting []byte) ([]byte, error) {
	_, rest, found := bytes.Cut(greeting, []byte{0}) // after the version
	if greeting[0] != 10 || !found || len(rest) < 4+8+19+12 {
		return nil, errors.New("no MariaDB or MySQL server answers")
	}
	return append(bytes.Clone(rest[4:12]), rest[31:43]...), nil
}

// scramble proves that the password is known.
func scramble(password string, salt []byte) []byte {
	if password == "" {
		return nil
	}
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	proof := sha1.Sum(append(bytes.Clone(salt), twice[:]...))
	for i := range proof {
		proof[i] ^= once[i]
	}
	return proof[:]
}

func credentials(user string, proof []byte, database string) []byte {
	body := binary.LittleEndian.AppendUint32(nil, loginFlags)
	body = binary.LittleEndian.AppendUint32(body, 1<<24)
	body = append(append(body, 45), make([]byte, 23)...)
	body = append(append(body, user...), 0)
	body = append(append(body, byte(len(proof))), proof...)
	body = append(append(body, database...), 0)
	return append(append(body, loginMethod...), 0)
}
