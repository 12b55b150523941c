package trips

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/sagas"
)

// An Answer is what a system outside makes of one call.
type Answer string

// The answers. Without any of them a call is carried out and answered.
const (
	Fine    Answer = ""
	Lost    Answer = "lost"    // done, and the answer is lost
	Late    Answer = "late"    // done later, and never answered
	Never   Answer = "never"   // not done, and not answered
	Busy    Answer = "busy"    // not done
	Refused Answer = "refused" // not done, for good
	Stored  Answer = "stored"  // not done, and answered alike for as long as the key is the same
	Lacking Answer = "lacking" // not done, because of a wrong password
	Unsure  Answer = "unsure"  // of a look-up: it cannot tell
)

// Answers are all of them.
var Answers = []Answer{Fine, Lost, Late, Never, Busy, Refused, Stored, Lacking, Unsure}

// failure is the answer as the program is told it; nil: none.
func (a Answer) failure() error {
	told := errors.New(string(a))
	switch a {
	case Lost, Late, Never:
		return domain.Fail(domain.Unknown, "timeout", told)
	case Busy, Unsure:
		return domain.Fail(domain.Transient, "busy", told)
	case Refused:
		return domain.Fail(domain.Permanent, "refused", told)
	case Stored:
		return domain.Fail(domain.Unknown, sagas.StoredError, told)
	case Lacking:
		return &domain.Failure{Class: domain.Permanent, Code: "login", Lacks: "login", Rest: time.Minute, Err: told}
	default:
		return nil
	}
}

// A Box is an object outside.
type Box struct{ ID, Owner string }

// Outside is all that is not ours. The model and the engine have one each, which are told
// to answer alike, so that a difference in what they are asked shows.
type Outside struct {
	Boxes map[string]Box    // by name
	Paid  map[string]string // by key with generation
	Mails map[string]int
	Late  map[string]Box // on their way
	Calls []string       // since the last operation
	Twice []string       // what was done twice: never anything

	drawn   int
	answers []Answer
}

// NewOutside has nothing yet.
func NewOutside() *Outside {
	return &Outside{Boxes: map[string]Box{}, Paid: map[string]string{}, Mails: map[string]int{}, Late: map[string]Box{}}
}

// Expect sets the answers to the next calls, and forgets the calls before.
func (o *Outside) Expect(answers []Answer) { o.answers, o.Calls = slices.Clone(answers), nil }

func (o *Outside) next(call, about string) (a Answer) {
	if len(o.answers) > 0 {
		a, o.answers = o.answers[0], o.answers[1:]
	}
	o.Calls = append(o.Calls, call+" "+about+" "+string(a))
	return a
}

func (o *Outside) draw(kind string) string { o.drawn++; return fmt.Sprintf("%s%d", kind, o.drawn) }

// Note tells whether the note of a trip is to be refused.
func (o *Outside) Note(name string) bool { return o.next("note", name) == Refused }

// Make makes a box.
func (o *Outside) Make(c sagas.Claim) (string, error) {
	a := o.next("make", c.Name)
	if b, taken := o.Boxes[c.Name]; taken && a != Busy && a != Lacking {
		if b.Owner == c.Owner.String() {
			o.Twice = append(o.Twice, c.Name)
		}
		return "", domain.Fail(domain.Permanent, "name_taken", errors.New("it bears another owner's mark"))
	}
	switch a {
	case Fine, Lost, Unsure:
		o.Boxes[c.Name] = Box{o.draw("box"), c.Owner.String()}
	case Late:
		o.Late[c.Name] = Box{o.draw("box"), c.Owner.String()}
	default:
	}
	if a == Unsure {
		a = Fine
	}
	return o.Boxes[c.Name].ID, a.failure()
}

// latest is how long a call may be on its way: less than any quarantine.
const latest = 10 * time.Second

// Pass carries out what is on its way, if enough time passes.
func (o *Outside) Pass(d time.Duration) {
	if d < latest {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(o.Late)) {
		if _, taken := o.Boxes[name]; taken {
			o.Twice = append(o.Twice, name)
		}
		o.Boxes[name] = o.Late[name]
	}
	clear(o.Late)
}

// Lose loses a box that was made.
func (o *Outside) Lose(name string) { delete(o.Boxes, name) }

// Find looks a box up.
func (o *Outside) Find(c sagas.Claim) (string, sagas.Found, error) {
	switch a := o.next("find", c.Name); a {
	case Unsure:
		return "", sagas.Maybe, nil
	case Busy, Lacking, Never:
		return "", sagas.No, a.failure()
	default:
	}
	if b, is := o.Boxes[c.Name]; is && b.Owner == c.Owner.String() {
		return b.ID, sagas.Yes, nil
	}
	return "", sagas.No, nil
}

// Remove removes a box. One that is gone is a success.
func (o *Outside) Remove(c sagas.Claim, id string) error {
	a := o.next("remove", c.Name+" "+id)
	if (a == Fine || a == Lost || a == Unsure) && o.Boxes[c.Name].ID == id {
		delete(o.Boxes, c.Name)
	}
	if a == Unsure || a == Late || a == Stored {
		return Busy.failure()
	}
	return a.failure()
}

// Ready looks whether a box is in service.
func (o *Outside) Ready(c sagas.Claim) (bool, error) {
	switch a := o.next("look", c.Name); a {
	case Unsure, Late:
		return false, nil
	case Busy, Lacking, Never:
		return false, a.failure()
	default:
	}
	if b, is := o.Boxes[c.Name]; !is || b.Owner != c.Owner.String() {
		return false, sagas.ErrAbsent
	}
	return true, nil
}

// Pay pays under a key; the same key twice is one payment.
func (o *Outside) Pay(effect string, generation int) (string, error) {
	key := sagas.KeyOfGeneration(effect, generation)
	a := o.next("pay", key)
	if _, paid := o.Paid[key]; !paid && (a == Fine || a == Lost || a == Unsure || a == Late) {
		if _, before := o.paid(effect); before {
			o.Twice = append(o.Twice, effect)
		}
		o.Paid[key] = o.draw("charge")
	}
	if a == Unsure {
		a = Fine
	}
	return o.Paid[key], a.failure()
}

// FindPayment looks a payment up, under whichever key it was made.
func (o *Outside) FindPayment(effect string) (string, sagas.Found, error) {
	switch a := o.next("find", effect); a {
	case Unsure:
		return "", sagas.Maybe, nil
	case Busy, Lacking, Never:
		return "", sagas.No, a.failure()
	default:
	}
	if id, paid := o.paid(effect); paid {
		return id, sagas.Yes, nil
	}
	return "", sagas.No, nil
}

func (o *Outside) paid(effect string) (string, bool) {
	for generation := 1; generation < 100; generation++ {
		if id, paid := o.Paid[sagas.KeyOfGeneration(effect, generation)]; paid {
			return id, true
		}
	}
	return "", false
}

// Refund takes a payment back.
func (o *Outside) Refund(effect, id string) error {
	a := o.next("refund", effect+" "+id)
	if a == Fine || a == Lost {
		maps.DeleteFunc(o.Paid, func(_, paid string) bool { return paid == id })
	}
	if a == Unsure || a == Late || a == Stored {
		return Busy.failure()
	}
	return a.failure()
}

// mostMails is how often one mail may be sent at most (rule L-3).
const mostMails = 2

// Mail sends a mail.
func (o *Outside) Mail(key string) error {
	a := o.next("mail", key)
	if a == Fine || a == Lost || a == Late || a == Unsure {
		if o.Mails[key]++; o.Mails[key] > mostMails {
			o.Twice = append(o.Twice, key)
		}
	}
	if a == Unsure {
		a = Fine
	}
	return a.failure()
}

// FindEffect looks up what a step has made.
func (o *Outside) FindEffect(in Trip, step Step) (string, sagas.Found, error) {
	if step.Kind == Object {
		return o.Find(ClaimOf(in))
	}
	return o.FindPayment(KeyOf(step.Name, in))
}

// Proof checks what an operator says that a step has made.
func (o *Outside) Proof(in Trip, step Step, external string) (string, error) {
	if step.Kind == Blind {
		return external, nil
	}
	if external == "" {
		return "", domain.RefuseField("external_id", "This field is required.")
	}
	found, is, err := o.FindEffect(in, step)
	if err != nil || is != sagas.Yes || found != external {
		return "", domain.RefuseField("external_id", "Nothing of ours was found under this id.")
	}
	return found, nil
}

// Contested decides about a box that another trip has claimed: it is that one's if it is
// there, and free once the quarantine is over.
func Contested(o *Outside, c sagas.Contest) (expire bool, err error) {
	holder := c.Claim
	category, id, _ := strings.Cut(c.Holder, "-")
	holder.Owner = domain.Stream{Category: category, ID: id}
	_, found, err := o.Find(holder)
	if err == nil && found == sagas.Yes {
		err = domain.Fail(domain.Permanent, "name_taken", errors.New("it is another's"))
	}
	return err == nil && found == sagas.No && c.Idle >= c.Quarantine, err
}
