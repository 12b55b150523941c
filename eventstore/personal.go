package eventstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore/evidence"
	"hostpanel/eventstore/sealing"
)

// A draft is the JSON form of an event that is about to be added, with the
// personal texts in it that are not sealed yet.
type draft struct {
	data    []byte
	strings []sealing.String
	keys    []subjectKey // of each string
}

// draft encodes an event and finds its personal texts.
func (n *encoder) draft(r RecordedEvent) (draft, error) {
	data, err := json.Marshal(r.Event)
	if err != nil {
		return draft{}, fmt.Errorf("encode %s: %w", r.Name, err)
	}
	d := draft{data: sealing.Escape(data)}
	d.find(n.catalogue.Personal(r.Name), r.Event)
	return d, nil
}

// find finds the personal texts that an event type declares. The subject of a
// text is the member "subject" of the nearest object around it that has one. Its year is
// that of the event.
func (d *draft) find(declared map[string]domain.Purpose, event domain.Event) {
	if len(declared) == 0 {
		return
	}
	subjects := map[string]uuid.UUID{}
	var purposes []domain.Purpose
	d.strings = sealing.Strings(d.data, func(pointer, pattern, quoted []byte) bool {
		if around, ok := bytes.CutSuffix(pointer, []byte("/subject")); ok {
			if subject, err := uuid.Parse(sealing.Unquote(quoted)); err == nil { // another member may have that name
				subjects[string(around)] = subject
			}
		}
		purpose, personal := declared[string(pattern[1:])]
		if personal = personal && len(quoted) > len(`""`); personal {
			if fiscal, is := event.(domain.FiscalEvent); is && purpose == domain.Fiscal {
				purpose = domain.FiscalOf(fiscal.FiscalYear())
			}
			purposes = append(purposes, purpose)
		}
		return personal
	})
	for i, text := range d.strings {
		d.keys = append(d.keys, subjectKey{subjectOf(text.Pointer, subjects), purposes[i]})
	}
}

func subjectOf(pointer string, subjects map[string]uuid.UUID) uuid.UUID {
	for around := pointer; around != ""; {
		around = around[:strings.LastIndexByte(around, '/')]
		if subject, known := subjects[around]; known {
			return subject
		}
	}
	return uuid.Nil
}

// blank empties the texts whose keys have been destroyed, and reads the event
// again, so that read tables get no erased text either.
func (n *encoder) blank(d *draft, r *RecordedEvent, keys map[subjectKey][]byte) (err error) {
	erased := func(k subjectKey) bool { return keys[k] == nil }
	if !slices.ContainsFunc(d.keys, erased) {
		return nil
	}
	d.data = sealing.Replace(d.data, d.strings, func(i int) string {
		if erased(d.keys[i]) {
			return ""
		}
		return sealing.Unquote(d.data[d.strings[i].Start:d.strings[i].End])
	})
	if r.Event, err = n.catalogue.Decode(r.Name, n.catalogue.Schema(r.Name), d.data); err != nil {
		return err
	}
	*d, err = n.draft(*r)
	return err
}

// seal returns the JSON form of the event as it is stored.
func (d *draft) seal(event uuid.UUID, keys map[subjectKey][]byte) []byte {
	if len(d.strings) == 0 {
		return d.data
	}
	return sealing.Replace(d.data, d.strings, func(i int) string {
		k, text := d.keys[i], d.strings[i]
		place := sealing.Place{Kind: evidence.PlaceKind, ID: event.String(), Pointer: text.Pointer}
		return sealing.Seal(keys[k], k.subject, k.purpose, place, sealing.Unquote(d.data[text.Start:text.End]))
	})
}

// A sealedRow is a row of the log with the sealed texts that were found in it.
type sealedRow struct {
	*row
	strings []sealing.String
	texts   []sealing.Text
}

// open replaces the sealed texts in the data of rows by what they say. An
// erased text becomes empty. A key that is not at hand is [sealing.ErrKey], and
// a text that was changed or moved is [sealing.ErrBroken].
//
// Everything that a text needs to be opened stands in the text itself: neither
// the present shape of the event nor its declarations matter.
func (r *Reader) open(ctx context.Context, rows []row) error {
	var found []sealedRow
	var wanted []subjectKey
	for i := range rows {
		if !sealing.MaySeal(rows[i].data) || r.wanted != nil && !r.wanted(rows[i].name) {
			continue
		}
		if r.closed {
			rows[i].data = sealing.Blank(rows[i].data)
			continue
		}
		sealed, err := findSealed(&rows[i])
		if err != nil {
			return fmt.Errorf("event %d: %w", rows[i].position, err)
		}
		for _, text := range sealed.texts {
			wanted = append(wanted, subjectKey{text.Subject, text.Purpose})
		}
		found = append(found, sealed)
	}
	if len(wanted) == 0 {
		return nil
	}
	keys, err := r.subjects.load(ctx, wanted)
	if err != nil {
		return err
	}
	r.withhold(keys)
	for _, sealed := range found {
		if err := sealed.open(keys); err != nil {
			return fmt.Errorf("event %d: %w", sealed.position, err)
		}
	}
	return nil
}

func findSealed(e *row) (sealedRow, error) {
	found := sealedRow{row: e}
	place := sealing.Place{Kind: evidence.PlaceKind, ID: e.id.String()}
	found.strings = sealing.Strings(e.data, func(_, _, quoted []byte) bool { return sealing.IsSealed(quoted) })
	for _, s := range found.strings {
		text, err := sealing.Parse(sealing.Unquote(e.data[s.Start:s.End]))
		if place.Pointer = s.Pointer; err == nil && text.Place != place {
			err = fmt.Errorf("%w: it belongs to another place", sealing.ErrBroken)
		}
		if err != nil {
			return found, fmt.Errorf("%s: %w", s.Pointer, err)
		}
		found.texts = append(found.texts, text)
	}
	return found, nil
}

func (e *sealedRow) open(keys map[subjectKey][]byte) error {
	clear := make([]string, len(e.texts))
	for i, text := range e.texts {
		key, known := keys[subjectKey{text.Subject, text.Purpose}]
		switch {
		case !known:
			return fmt.Errorf("%s: the subject has no key: %w", e.strings[i].Pointer, sealing.ErrKey)
		case key == nil:
			e.erased = append(e.erased, e.strings[i].Pointer)
			continue
		}
		var err error
		if clear[i], err = text.Open(text.Key(key)); err != nil {
			return fmt.Errorf("%s: %w", e.strings[i].Pointer, err)
		}
	}
	for _, text := range e.texts {
		if !slices.Contains(e.subjects, text.Subject) {
			e.subjects = append(e.subjects, text.Subject)
		}
	}
	e.data = sealing.Replace(e.data, e.strings, func(i int) string { return clear[i] })
	return nil
}

// SealFile seals a file with the key of a subject, who gets one if there is none. It is not
// ok if the key was destroyed.
func (s *Store) SealFile(
	ctx context.Context, subject uuid.UUID, purpose domain.Purpose, place sealing.Place, clear []byte,
) (sealed []byte, ok bool, err error) {
	k := subjectKey{subject, purpose}
	key, exists, err := s.reader.subjects.one(ctx, k)
	if err == nil && !exists {
		if err = s.reader.subjects.add(ctx, k); err == nil {
			key, _, err = s.reader.subjects.one(ctx, k)
		}
	}
	if err != nil || key == nil {
		return nil, false, err
	}
	return sealing.SealFile(key, subject, purpose, place, clear), true, nil
}

// OpenFile opens a file that [Store.SealFile] has sealed. It is not ok if the key was
// destroyed.
func (s *Store) OpenFile(
	ctx context.Context, subject uuid.UUID, purpose domain.Purpose, place sealing.Place, sealed []byte,
) (clear []byte, ok bool, err error) {
	key, _, err := s.reader.subjects.one(ctx, subjectKey{subject, purpose})
	if err != nil || key == nil {
		return nil, false, err
	}
	clear, err = sealing.OpenFile(key, subject, purpose, place, sealed)
	return clear, err == nil, err
}
