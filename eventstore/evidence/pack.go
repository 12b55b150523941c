// Package evidence has the form of evidence packs: the stored bytes of events with a
// proof of each, in files that are checked without the panel and without a network
// (docs/audit.md, "Evidence packs"). The package needs no database.
package evidence

import (
	"fmt"
	"path"
	"time"
)

// A Pack is evidence of some events.
type Pack struct {
	Manifest Manifest
	Policy   string  // whose signatures the proofs need (tlog-policy of C2SP)
	Events   []Event // in the order of the log
	Keys     []Key   // of the texts that are opened
	Story    []byte  // HTML; it retells the events and is not proven itself
}

// A Manifest says what a pack is about.
type Manifest struct {
	Format string    `json:"format"` // [Format]
	About  string    `json:"about"`  // "order 6f1c…", "tenant 3", "2026-05-01T00:00:00Z to …"
	MadeAt time.Time `json:"made_at"`
	VKey   string    `json:"vkey"` // public key of the log
	Events int       `json:"events"`
}

// Format names the form that this program writes and reads.
const Format = "hostpanel evidence v1"

// An Event is one event of a pack.
type Event struct {
	Position int64
	Bytes    []byte // that are hashed (docs/log.md, "Tamper evidence")
	Proof    string // tlog-proof of C2SP; its extra data is the leaf
}

// A Key opens one sealed text of an event, and nothing else.
type Key struct {
	Position int64  `json:"position"`
	Pointer  string `json:"pointer"` // JSON pointer to the text in the event's data
	Key      []byte `json:"key"`
}

// Names of the files of a pack. Each event has two in the folder events.
const (
	manifestFile = "manifest.json"
	policyFile   = "policy"
	keysFile     = "keys.json"
	storyFile    = "story.html"
	eventsFolder = "events"
	eventsFile   = eventsFolder + ".zip" // the folder, in a pack that is a .zip
	bytesEnding  = ".event"
	proofEnding  = ".tlog-proof"
)

func nameOf(position int64, ending string) string {
	return path.Join(eventsFolder, fmt.Sprintf("%012d", position)+ending)
}
