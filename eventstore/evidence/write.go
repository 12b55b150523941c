package evidence

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// A file is one file of a pack.
type file struct {
	name string
	data []byte
}

// about are the files but for those of the events.
func (p Pack) about() ([]file, error) {
	manifest, err := json.MarshalIndent(p.Manifest, "", "  ")
	keys, wrong := json.MarshalIndent(p.Keys, "", " ")
	return []file{{manifestFile, manifest}, {policyFile, []byte(p.Policy)}, {keysFile, keys}, {storyFile, p.Story}}, errors.Join(err, wrong)
}

func (p Pack) eventFiles() (all []file) {
	for _, e := range p.Events {
		all = append(all, file{nameOf(e.Position, bytesEnding), e.Bytes}, file{nameOf(e.Position, proofEnding), []byte(e.Proof)})
	}
	return all
}

// Folder writes the pack as a folder, which must not exist.
func (p Pack) Folder(path string) error {
	files, err := p.about()
	err = errors.Join(err, os.Mkdir(path, 0o700))
	if err == nil {
		err = os.Mkdir(filepath.Join(path, eventsFolder), 0o700)
	}
	for _, f := range append(files, p.eventFiles()...) {
		if err == nil {
			err = os.WriteFile(filepath.Join(path, filepath.FromSlash(f.name)), f.data, 0o600)
		}
	}
	return asWriting(err)
}

// Zip writes the pack as a .zip. Equal packs give equal bytes. The files of all events are
// compressed as one: proofs by one checkpoint have most of their bytes in common.
func (p Pack) Zip(to io.Writer) error {
	files, err := p.about()
	if err != nil {
		return asWriting(err)
	}
	z := zip.NewWriter(to)
	for _, f := range files {
		err = errors.Join(err, deflate(z, f.name, func(w io.Writer) error { _, err := w.Write(f.data); return err }))
	}
	err = errors.Join(err, deflate(z, eventsFile, func(w io.Writer) error { return store(w, p.eventFiles()) }), z.Close())
	return asWriting(err)
}

func deflate(z *zip.Writer, name string, write func(io.Writer) error) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err != nil {
		return err
	}
	return write(w)
}

// store writes files as a .zip that compresses nothing.
func store(to io.Writer, files []file) error {
	z := zip.NewWriter(to)
	for _, f := range files {
		size := uint64(len(f.data))
		w, err := z.CreateRaw(
			&zip.FileHeader{
				Name: f.name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(f.data), CompressedSize64: size,
				UncompressedSize64: size,
			},
		)
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

func asWriting(err error) error {
	if err != nil {
		return fmt.Errorf("write a pack: %w", err)
	}
	return nil
}
