// Command strangers checks a proof of the transparency log with libraries that are not
// the panel's: transparency-dev/formats reads it, transparency-dev/merkle computes it.
//
//	strangers VKEY PROOF-FILE LEAF-IN-HEX
package main

import (
	"encoding/hex"
	"fmt"
	"os"

	"github.com/transparency-dev/formats/log"
	f_note "github.com/transparency-dev/formats/note"
	"github.com/transparency-dev/formats/proof"
	m_proof "github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
)

func main() {
	if err := check(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "the proof fails:", err)
		os.Exit(1)
	}
	fmt.Println("the proof holds")
}

func check(vkey, file, leaf string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	entry, err := hex.DecodeString(leaf)
	if err != nil {
		return err
	}
	verifier, err := f_note.NewVerifier(vkey)
	if err != nil {
		return err
	}
	var p proof.TLogProof
	if err := p.Unmarshal(text); err != nil {
		return err
	}
	checkpoint, _, _, err := log.ParseCheckpoint(p.Checkpoint, verifier.Name(), verifier)
	if err != nil {
		return err
	}
	hashes := make([][]byte, len(p.Hashes))
	for i := range p.Hashes {
		hashes[i] = p.Hashes[i][:]
	}
	return m_proof.VerifyInclusion(
		rfc6962.DefaultHasher, p.Index, checkpoint.Size, rfc6962.DefaultHasher.HashLeaf(entry), hashes,
		checkpoint.Hash,
	)
}
