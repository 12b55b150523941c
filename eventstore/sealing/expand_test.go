package sealing

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"math/rand/v2"
	"testing"
)

// Keys of texts are derived as the library does it, whatever the texts are about.
func TestKeysAreExpandedAsByTheLibrary(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // it makes examples
	letters := func(n int) []byte {
		all := make([]byte, n)
		for i := range all {
			all[i] = byte(random.Uint32())
		}
		return all
	}
	for range 500 {
		key, length := letters(32), 32+32*random.IntN(2)
		label, pointer := string(letters(random.IntN(40))), string(letters(random.IntN(700)))
		info := []byte{0, 0, 0, byte(len(label))}
		info = append(append(info, label...), 0, 0, byte(len(pointer)>>8), byte(len(pointer)))
		want, err := hkdf.Expand(sha256.New, key, string(append(info, pointer...)), length)
		if got := expand(key, length, label, pointer); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("seed %d: %x, want %x, %v", seed, got, want, err)
		}
	}
}
