package hosting

import (
	"crypto/ecdh"
	"encoding/base64"
	"encoding/binary"
	"math/big"
	"strings"

	"hostpanel/domain/field"
)

// sshPublicKey is one public key as a line of authorized_keys has it, without
// options: its type, its value in base64 and perhaps a comment.
var sshPublicKey = field.Rule{Max: 2048, Message: "Enter a valid SSH public key.", Holds: isSSHPublicKey}

// SSHPublicKey is the rule of a public key of SSH.
var SSHPublicKey = sshPublicKey

// WithoutComment is a public key of SSH without its comment, which may name a person.
func WithoutComment(key string) string {
	parts := strings.Fields(key)
	return strings.Join(parts[:min(len(parts), 2)], " ")
}

const rsaBitsMin = 2048

func isSSHPublicKey(line string) bool {
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7F }) {
		return false
	}
	parts := strings.Fields(line)
	if len(parts) < 2 {
		return false
	}
	blob, err := base64.StdEncoding.Strict().DecodeString(parts[1])
	if err != nil {
		return false
	}
	values, whole := sshValues(blob)
	if !whole || len(values) == 0 || string(values[0]) != parts[0] {
		return false
	}
	return isKeyOf(parts[0], values[1:])
}

// sshValues are the values of a key, each of which has its length before it.
func sshValues(blob []byte) (values [][]byte, whole bool) {
	for len(blob) > 0 {
		if len(blob) < 4 {
			return nil, false
		}
		n := uint64(binary.BigEndian.Uint32(blob))
		if blob = blob[4:]; n > uint64(len(blob)) {
			return nil, false
		}
		values, blob = append(values, blob[:n]), blob[n:]
	}
	return values, true
}

func isKeyOf(algorithm string, values [][]byte) bool {
	curve, elliptic := map[string]ecdh.Curve{
		"ecdsa-sha2-nistp256": ecdh.P256(), "ecdsa-sha2-nistp384": ecdh.P384(), "ecdsa-sha2-nistp521": ecdh.P521(),
	}[algorithm]
	switch {
	case algorithm == "ssh-ed25519":
		return len(values) == 1 && len(values[0]) == 32
	case algorithm == "ssh-rsa":
		return len(values) == 2 && new(big.Int).SetBytes(values[1]).BitLen() >= rsaBitsMin && new(big.Int).SetBytes(values[0]).BitLen() > 1
	case elliptic && len(values) == 2:
		_, err := curve.NewPublicKey(values[1])
		return err == nil && "ecdsa-sha2-"+string(values[0]) == algorithm
	}
	return false
}
