package order

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// The saga's part of the story: it starts, parks where it cannot go on,
// resumes when an operator says so, and ends with a running service.
type (
	StartProvisioning struct {
		ID uuid.UUID
		At time.Time
	}
	Park struct {
		ID   uuid.UUID
		Step string // such as "tenant.engine"
		Code string // short and stable, such as "name_taken"
		At   time.Time
	}
	Resume struct {
		ID     uuid.UUID
		Step   string // at which it goes on
		How    How
		Reason string // the operator's, in words
		Proof  string // of a skipped step: the outside id, after it was looked up
		At     time.Time
	}
	Activate struct {
		ID uuid.UUID
		At time.Time
	}
)

// How an operator lets a parked order go on.
type How string

const (
	Retry          How = "retry"            // try the step again
	RetryWithInput How = "retry_with_input" // try the step again with corrected input
	Skip           How = "skip"             // the step was done by hand
)

// The welcome mail goes its own way: whatever becomes of it, the order is
// never failed for it.
type (
	DelayMail struct {
		ID uuid.UUID
		At time.Time
	}
	ConfirmMail struct {
		ID uuid.UUID
		At time.Time
	}
	GiveUpMail struct {
		ID uuid.UUID
		At time.Time
	}
)

// A MailState is what became of the welcome mail; empty: nothing yet.
type MailState string

const (
	MailDelayed MailState = "delayed"  // a run of its own goes on with it
	MailSent    MailState = "sent"     // a mail server has accepted it
	MailGivenUp MailState = "given_up" // it will not be sent
)

func (c StartProvisioning) decide(o Order) ([]Event, error) {
	switch {
	case o.Status == StatusFailed:
		return nil, o.forbids("is resumed by an operator only")
	case o.TurnsBack():
		return nil, o.forbids("is being cancelled")
	}
	return o.move(StatusProvisioning, ProvisioningStarted{At: c.At})
}

func (c Park) decide(o Order) ([]Event, error) {
	return o.move(StatusFailed, ProvisioningParked{Step: c.Step, Code: c.Code, At: c.At})
}

func (c Resume) decide(o Order) ([]Event, error) {
	switch {
	case c.Reason == "":
		return nil, domain.RefuseField("reason", "This field is required.")
	case o.Status != StatusFailed || o.TurnsBack():
		return nil, o.forbids("has nothing to be resumed")
	}
	return []Event{ProvisioningResumed{Step: c.Step, How: c.How, Reason: c.Reason, Proof: c.Proof, At: c.At}}, nil
}

func (c Activate) decide(o Order) ([]Event, error) {
	if o.TurnsBack() {
		return nil, o.forbids("is being cancelled")
	}
	return o.move(StatusActive, Activated{At: c.At})
}

func (c DelayMail) decide(o Order) ([]Event, error) {
	return o.mail(o.Mail == "", WelcomeMailDelayed{At: c.At})
}

func (c ConfirmMail) decide(o Order) ([]Event, error) {
	return o.mail(o.Mail != MailSent, WelcomeMailSent{At: c.At})
}

func (c GiveUpMail) decide(o Order) ([]Event, error) {
	return o.mail(o.Mail != MailSent && o.Mail != MailGivenUp, WelcomeMailGivenUp{At: c.At})
}

// mail answers with e if it is news. The mail goes on in whatever state the
// order is by then.
func (o Order) mail(news bool, e Event) ([]Event, error) {
	switch {
	case o.Status == "":
		return nil, o.forbids("")
	case !news:
		return nil, nil
	}
	return []Event{e}, nil
}

func (c StartProvisioning) Stream() domain.Stream { return Stream(c.ID) }
func (c Park) Stream() domain.Stream              { return Stream(c.ID) }
func (c Resume) Stream() domain.Stream            { return Stream(c.ID) }
func (c Activate) Stream() domain.Stream          { return Stream(c.ID) }
func (c DelayMail) Stream() domain.Stream         { return Stream(c.ID) }
func (c ConfirmMail) Stream() domain.Stream       { return Stream(c.ID) }
func (c GiveUpMail) Stream() domain.Stream        { return Stream(c.ID) }
