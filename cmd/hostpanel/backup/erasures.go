package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/eventstore/backup"
	"hostpanel/eventstore/erasures"
)

// lists are the lists of erasures that a restore applies: the given one, or those that
// the settings name, and the one in the backup. One of them has to be newer than the
// backup, unless the operator goes without.
func (r Restore) lists(cfg *config.Config, b *backup.Backup) (all []erasures.List, err error) {
	if all, err = r.outside(cfg); err != nil {
		return nil, err
	}
	newest := time.Time{}
	for _, list := range all {
		if list.Newest().After(newest) {
			newest = list.Newest()
		}
	}
	if newest.Before(b.MadeAt) && !r.Without {
		return nil,
			console.Misused("there is no list of erasures newer than the backup (%s): people who were erased since would come back. "+
				"Name the newest with --erasures FILE, or say --without-erasures%s", b.MadeAt.Format(time.RFC3339), found(newest))
	}
	text, err := b.ErasedList()
	if err != nil || text == nil {
		return all, err
	}
	own, err := erasures.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the backup: %w", err)
	}
	return append(all, own), nil
}

func found(newest time.Time) string {
	if newest.IsZero() {
		return ""
	}
	return "; the newest that was found is of " + newest.UTC().Format(time.RFC3339)
}

// outside are the lists that were kept beside the database. Of the files that the
// settings name, those count that are there.
func (r Restore) outside(cfg *config.Config) (all []erasures.List, err error) {
	if r.Erasures != "" {
		list, err := erasures.Read(r.Erasures)
		if err != nil {
			return nil, console.Misused("--erasures: %w", err)
		}
		return []erasures.List{list}, nil
	}
	for _, name := range []string{cfg.ErasuresFile(), cfg.ErasuresCopy} {
		if name == "" {
			continue
		}
		list, err := erasures.Read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, list)
	}
	return all, nil
}
