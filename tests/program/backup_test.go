//go:build system

package program_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore/backup"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/tests/processtest"
)

// A backup is one moment of the log, also while events are added.
func TestABackupIsOneMomentWhileWritersGoOn(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	p := programtest.Open(t, strings.TrimPrefix(h.At[0], "DATABASE_URL="), t.TempDir(), true)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	over := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 4 {
		chance := rand.New(rand.NewPCG(seed, uint64(w)))
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				default:
				}
				trouble := operations.TableTrouble(fmt.Sprintf("table %d of writer %d", n, w))
				if _, err := p.Store.Execute(t.Context(), domain.Metadata{Actor: "system:test"},
					trouble.Report(p.Store.Clock().Now())); err != nil {
					t.Error(err)
					return
				}
				if chance.IntN(4) == 0 {
					if _, err := p.Sealer.Seal(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	var backups []string
	for n := range 3 {
		to := filepath.Join(t.TempDir(), "backup.zip")
		var m backup.Manifest
		must(t, json.Unmarshal([]byte(h.Must("backup", "--out", to, "--json")), &m))
		if backups = append(backups, to); m.Head.Position == 0 || m.Log != nil && m.Log.Size > m.Head.Position {
			t.Errorf("backup %d: %+v", n, m)
		}
	}
	head, _, err := p.Store.Reader().Head(t.Context())
	must(t, err)
	processtest.Eventually(t, "writers go on after the backups", func() bool {
		now, _, err := p.Store.Reader().Head(t.Context())
		return err == nil && now > head
	})
	close(over)
	writers.Wait()
	for _, from := range backups {
		h.At = processtest.DatabaseAt(eventstoretest.Database(t, "empty", nil))
		if out := h.Must("restore", "--without-erasures", "--from", from); !strings.Contains(out, "restored: ") {
			t.Errorf("restore says %s", out)
		}
		if out := h.Must("verify"); !strings.Contains(out, "intact") {
			t.Errorf("verify says %s", out)
		}
	}
}
