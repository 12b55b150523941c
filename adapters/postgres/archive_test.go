//go:build unix

package postgres

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"
)

// jar is an archive as the repository of binaries has it: a zip file with a
// compressed tar file.
func jar(t *testing.T, programs map[string]string) []byte {
	t.Helper()
	var inner, outer bytes.Buffer
	tw := tar.NewWriter(&inner)
	for name, text := range programs {
		must(t, tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(text))}))
		_, err := tw.Write([]byte(text))
		must(t, err)
	}
	must(t, tw.Close())
	zw := zip.NewWriter(&outer)
	w, err := zw.Create("postgres.txz")
	must(t, err)
	_, err = w.Write(xz(inner.Bytes()))
	must(t, err)
	must(t, zw.Close())
	return outer.Bytes()
}

// xz wraps content (less than 64 KiB) in the xz format without compressing it:
// header, one block of one uncompressed chunk, index, footer.
func xz(content []byte) []byte {
	flags := []byte{0, 1} // checked by CRC-32
	out := append([]byte{0xFD, '7', 'z', 'X', 'Z', 0}, summed(flags)...)

	header := summed([]byte{2, 0, 0x21, 1, 0, 0, 0, 0}) // 12 bytes; one filter, LZMA2, its dictionary 4 KiB
	chunk := append([]byte{1}, binary.BigEndian.AppendUint16(nil, uint16(len(content)-1))...)
	block := append(append(header, append(chunk, content...)...), 0)
	unpadded := len(block) + 4
	block = binary.LittleEndian.AppendUint32(padded(block), crc32.ChecksumIEEE(content))

	index := []byte{0, 1}
	index = binary.AppendUvarint(index, uint64(unpadded))
	index = summed(padded(binary.AppendUvarint(index, uint64(len(content)))))

	footer := append(binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)), flags...)
	footer = append(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(footer)), footer...)
	return append(append(append(append(out, block...), index...), footer...), 'Y', 'Z')
}

func padded(b []byte) []byte { return append(b, make([]byte, (4-len(b)%4)%4)...) }

func summed(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)) }
