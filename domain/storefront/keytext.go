package storefront

import (
	"crypto/sha256"
	"hash/crc32"
	"regexp"
	"strings"
)

// A Mode says whether a key may take real money.
type Mode string

const (
	Live Mode = "live" // it may
	Test Mode = "test" // test payments only
)

// An issued key reads "sfk_live_ab12CD34_<32 letters>_<6 letters>". The last
// six are a checksum of all before them, so that a mistyped key is refused
// without a look at the database.
var (
	keyText  = regexp.MustCompile(`^sfk_(live|test)_([0-9A-Za-z]{8})_([0-9A-Za-z]{32})_[0-9A-Za-z]{6}$`)
	publicID = regexp.MustCompile(`^[0-9A-Za-z]{8}$`)
)

// A KeyText is an API key, taken apart.
type KeyText struct {
	Mode   Mode
	ID     string // public
	Secret string
}

// ParseKey takes a key apart. It is not ok where the form or the checksum is
// wrong.
func ParseKey(key string) (KeyText, bool) {
	part := keyText.FindStringSubmatch(key)
	if part == nil {
		return KeyText{}, false
	}
	k := KeyText{Mode: Mode(part[1]), ID: part[2], Secret: part[3]}
	return k, ComposeKey(k.Mode, k.ID, k.Secret) == key
}

// ComposeKey puts a key together from its mode, a public id of 8 and a secret
// of 32 letters and digits.
func ComposeKey(mode Mode, id, secret string) string {
	text := Prefix(mode, id) + "_" + secret
	return text + "_" + checksum(text)
}

// DrawKey makes a new key. draw fills its argument with random bytes and never
// fails, as crypto/rand.Read.
func DrawKey(mode Mode, draw func([]byte) (int, error)) string {
	const public, secret = 8, 32
	for {
		var random [128]byte
		_, _ = draw(random[:])
		if letters := Letters(random[:], public+secret); len(letters) == public+secret {
			return ComposeKey(mode, letters[:public], letters[public:])
		}
	}
}

// Prefix is the part of a key that may be shown: "sfk_test_ab12CD34".
func Prefix(mode Mode, id string) string { return "sfk_" + string(mode) + "_" + id }

// HashKey is what is kept of a key.
func HashKey(key string) [sha256.Size]byte { return sha256.Sum256([]byte(key)) }

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// checksum is the CRC-32 of a text as six digits of base 62.
func checksum(text string) string {
	sum, digits := crc32.ChecksumIEEE([]byte(text)), [6]byte{}
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = base62[sum%62]
		sum /= 62
	}
	return string(digits[:])
}

// Letters turns random bytes into letters and digits, one for each byte that
// is below 248, so that all are equally likely; the rest is left out. It
// returns at most n of them.
func Letters(random []byte, n int) string {
	var b strings.Builder
	for _, r := range random {
		if r < 248 && b.Len() < n {
			b.WriteByte(base62[r%62])
		}
	}
	return b.String()
}
