package eventstore_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// A meeting has several people in it, at any depth.
type (
	guest struct {
		Subject uuid.UUID `json:"subject"`
		Name    string    `json:"name"`
		Phones  []string  `json:"phones"`
	}
	meetingHeld struct {
		Host    uuid.UUID `json:"subject"`
		Address struct {
			Street string `json:"street"`
			City   string `json:"city"`
		} `json:"address"`
		Guests []guest `json:"guests"`
		Topic  string  `json:"topic"`
	}
)

func (meetingHeld) EventName() string { return "meeting.held" }
func (meetingHeld) Says() string      { return "held" }
func (meetingHeld) FiscalYear() int   { return 2026 }

// reported is the same event in a later program: fields have other names and
// places, and other purposes.
type reported struct {
	Organiser uuid.UUID `json:"subject"`
	Text      struct {
		Where string `json:"where"`
		Who   string `json:"who"`
		About string `json:"about"`
	} `json:"text"`
}

func (reported) EventName() string { return "meeting.held" }
func (reported) Says() string      { return "held" }
func (reported) FiscalYear() int   { return 2026 }

func report(old meetingHeld) (next reported) {
	next.Organiser, next.Text.Where, next.Text.About = old.Host, old.Address.Street+", "+old.Address.City, old.Topic
	for _, g := range old.Guests {
		next.Text.Who += g.Name + " " + strings.Join(g.Phones, " ") + ";"
	}
	return next
}

var meetings = domain.NewCatalogue([]domain.EventType{
	domain.Register[meetingHeld]().Sealing(domain.Contact, "address/street", "guests/*/name", "guests/*/phones/*").Sealing(
		domain.Fiscal, "address/city",
	),
})

var meetingStream = domain.Stream{Category: "meeting", ID: "1"}

func held(host, ana, ben uuid.UUID) meetingHeld {
	m := meetingHeld{
		Host: host, Topic: "sealed:1: a topic",
		Guests: []guest{{ana, "Ana", []string{"34 600", "", "601"}}, {ben, "Ben", nil}},
	}
	m.Address.Street, m.Address.City = "Calle Mayor 1", "Madrid"
	return m
}

// meet writes one event into a log of its own, and returns the address of that.
func meet(t *testing.T, m meetingHeld) (url string, writer *eventstore.Store) {
	t.Helper()
	url = eventstoretest.URL(t)
	writer = eventstore.Open(eventstoretest.Pool(t, url), meetings, eventstoretest.Keys(t), eventstoretest.Caused())
	if _, err := writer.Append(t.Context(), domain.Metadata{}, meetingStream, 0, nil, m); err != nil {
		t.Fatal(err)
	}
	return url, writer
}

// readBy reads that event with the catalogue of another program.
func readBy(t *testing.T, url string, c domain.Catalogue) eventstore.RecordedEvent {
	t.Helper()
	history, err := eventstore.Open(eventstoretest.Pool(t, url), c, eventstoretest.Keys(t)).Read(t.Context(), meetingStream)
	if err != nil || len(history) != 1 {
		t.Fatal(history, err)
	}
	return history[0]
}

func TestTextsOfSeveralPeopleAreSealedAtAnyDepth(t *testing.T) {
	host, ana, ben := uuid.New(), uuid.New(), uuid.New()
	m := held(host, ana, ben)
	url, writer := meet(t, m)
	var stored string
	if err := writer.Pool().QueryRow(t.Context(), `select data from events`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	for _, clear := range []string{`"Calle`, `"Madrid`, `"Ana`, `"Ben`, `"34 600`} { // a box may hold the letters by chance
		if strings.Contains(stored, clear) {
			t.Errorf("%s is clear in %s", clear, stored)
		}
	}
	r := readBy(t, url, meetings)
	if !reflect.DeepEqual(r.Event, domain.Event(m)) {
		t.Errorf("%+v", r.Event)
	}
	if len(r.Subjects) != 3 || !slices.Contains(r.Subjects, host) || !slices.Contains(r.Subjects, ana) ||
		!slices.Contains(r.Subjects, ben) {
		t.Errorf("it is about %v", r.Subjects)
	}

	if _, err := writer.ExecuteWith(t.Context(), domain.Metadata{}, eventstore.EraseRows(ana, host)); err != nil {
		t.Fatal(err)
	}
	want := held(host, ana, ben)
	want.Address.Street, want.Guests[0].Name, want.Guests[0].Phones = "", "", []string{"", "", ""}
	if r := readBy(t, url, meetings); !reflect.DeepEqual(r.Event, domain.Event(want)) {
		t.Errorf("after the erasure of two: %+v", r.Event)
	}
}

// Opening depends on the stored text alone: a later program renames fields,
// moves them, seals them for another purpose or not at all, and reads the same.
func TestALaterShapeReadsTextsThatWereSealedInAnEarlierOne(t *testing.T) {
	m := held(uuid.New(), uuid.New(), uuid.New())
	url, _ := meet(t, m)
	for what, c := range map[string]domain.Catalogue{
		"renamed, moved and for another purpose": domain.NewCatalogue([]domain.EventType{
			domain.Register[reported](domain.Was(report)).Sealing(domain.Fiscal, "text/where", "text/who"),
		}),
		"personal no more": domain.NewCatalogue([]domain.EventType{domain.Register[reported](domain.Was(report))}),
	} {
		if r := readBy(t, url, c); !reflect.DeepEqual(r.Event, domain.Event(report(m))) {
			t.Errorf("%s: %+v", what, r.Event)
		}
	}
}

func TestADeclarationOfNoTextStopsTheProgram(t *testing.T) {
	for _, path := range []string{"", "guests", "guests/name", "guests/0/name", "address/zip", "topic/*", "guests/*/phones"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was accepted", path)
				}
			}()
			domain.Register[meetingHeld]().Sealing(domain.Contact, path)
		}()
	}
	defer func() {
		if recover() == nil {
			t.Error("an event without a subject was accepted")
		}
	}()
	domain.Register[nobodysText]().Sealing(domain.Contact, "text")
}

type nobodysText struct {
	Text string `json:"text"`
}

func (nobodysText) EventName() string { return "text.written" }
func (nobodysText) Says() string      { return "written" }
