package eventstore_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"

	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
)

// vectors returns the test vectors of a kind that docs/log.md shows: the names
// and values of each block.
func vectors(t *testing.T, kind string) []map[string]string {
	t.Helper()
	page, err := os.ReadFile("../docs/log.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for _, block := range regexp.MustCompile("(?s)\n```"+kind+"\n(.*?)\n```\n").FindAllSubmatch(page, -1) {
		vector := map[string]string{}
		var name string
		for line := range strings.SplitSeq(string(block[1]), "\n") {
			key, value, _ := strings.Cut(line, " ")
			name = cmp.Or(key, name) // a line without a name goes on with the value of the last one
			vector[name] += strings.TrimSpace(value)
		}
		all = append(all, vector)
	}
	return all
}

func decodeHex(t *testing.T, text string) []byte {
	t.Helper()
	decoded, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestTheHashIsTheOneThatThePageShows(t *testing.T) {
	all := vectors(t, "event-hash")
	if len(all) != 2 {
		t.Fatalf("the page shows %d vectors", len(all))
	}
	for _, v := range all {
		hash := eventstore.HashOf(decodeHex(t, v["previous"]), v)
		if got := hex.EncodeToString(hash); got != v["hash"] {
			t.Errorf("%s/%s hashes to %s, the page shows %s", v["stream"], v["version"], got, v["hash"])
		}
		if shown := sha256.Sum256(decodeHex(t, v["bytes"])); !bytes.Equal(shown[:], hash) {
			t.Errorf("%s/%s: the bytes on the page hash to %x", v["stream"], v["version"], shown)
		}
	}
	if first, second := all[0], all[1]; first["previous"] != strings.Repeat("00", 32) || second["previous"] != first["hash"] {
		t.Error("the vectors are no chain")
	}
}

func TestASealedTextOpensAsThePageShows(t *testing.T) {
	all := vectors(t, "sealed-text")
	if len(all) != 1 {
		t.Fatalf("the page shows %d vectors", len(all))
	}
	v := all[0]
	text, err := sealing.Parse(v["stored"])
	if err != nil {
		t.Fatal(err)
	}
	place := sealing.Place{Kind: v["kind"], ID: v["id"], Pointer: v["pointer"]}
	if text.Subject.String() != v["subject"] || string(text.Purpose) != v["purpose"] || text.Place != place {
		t.Errorf("%+v", text)
	}
	key := text.Key(decodeHex(t, v["subject-key"]))
	if hex.EncodeToString(key) != v["text-key"] {
		t.Errorf("the key of the text is %x", key)
	}
	if clear, err := text.Open(key); err != nil || clear != v["text"] {
		t.Errorf("reads as %q, %v", clear, err)
	}
}

// NULL is no value: it hashes unlike zero, the empty text, and all others.
func TestNullHashesUnlikeEveryValue(t *testing.T) {
	v := vectors(t, "event-hash")[0]
	hashes := map[string]bool{}
	for _, column := range []string{"tenant", "causation"} {
		for _, value := range []string{"", "0", "-1", "00000000-0000-0000-0000-000000000000"} {
			if column == "tenant" && value != "0" && value != "-1" {
				continue
			}
			v[column] = value
			hashes[string(eventstore.HashOf(nil, v))] = true
			delete(v, column)
		}
	}
	hashes[string(eventstore.HashOf(nil, v))] = true
	if len(hashes) != 7 {
		t.Errorf("%d different hashes, want 7", len(hashes))
	}
}
