package paypaltest

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// Forge writes another body with the CRC-32 of a genuine one, so that the
// signature of the genuine one fits it too (rule P-6). The body has to hold
// ForgeHere in a text, which is replaced by letters and digits alone.
func Forge(genuine, body []byte) []byte {
	before, after, found := bytes.Cut(body, []byte(ForgeHere))
	if !found {
		panic("paypaltest: the body has no place for what makes the sums equal")
	}
	want := crc32.ChecksumIEEE(genuine)
	for n := range 1 << 24 {
		head := fmt.Appendf(bytes.Clone(before), "%08d", n)
		four := between(crc32.ChecksumIEEE(head), unwound(want, after))
		if plain(four) {
			return append(append(head, four[:]...), after...)
		}
	}
	panic("paypaltest: no letters and digits make the sums equal")
}

// ForgeHere is where a forged body has room.
const ForgeHere = "@@FORGE@@"

func plain(four [4]byte) bool {
	for _, c := range four {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// unwound is the register before the bytes after, that becomes sum behind them.
func unwound(sum uint32, after []byte) uint32 {
	register := ^sum
	for i := len(after) - 1; i >= 0; i-- {
		register = back(register, after[i])
	}
	return register
}

// back undoes one byte. The top byte of a register tells which entry of the
// table made it: they are all different there.
func back(register uint32, b byte) uint32 {
	at := top[register>>24]
	return (register^crc32.IEEETable[at])<<8 | uint32(at^b)
}

// between are the four bytes that lead from a sum to a register.
func between(sum, register uint32) (four [4]byte) {
	for range 4 {
		register = back(register, 0)
	}
	register ^= ^sum
	for i := range four {
		four[i] = byte(register >> (8 * i))
	}
	return four
}

// top finds an entry of the table by its top byte.
var top = func() (at [256]byte) {
	for i, entry := range crc32.IEEETable {
		at[entry>>24] = byte(i)
	}
	return at
}()
