package field

import (
	"errors"
	"slices"
	"strings"

	"hostpanel/domain"
)

// Errors are all the fields of a request that are wrong, in the order of the
// record. As JSON they are the body of the refusal:
// {"domain":["This field is required."]}.
type Errors []Wrong

// Wrong says what is wrong with one field.
type Wrong struct {
	Field    string
	Messages []string
	Items    Errors // of a list: what is wrong with its items, named by their place
}

func (e Errors) Error() string {
	parts := make([]string, 0, len(e))
	for _, w := range e {
		text := strings.Join(w.Messages, " ")
		if len(w.Items) > 0 {
			text = w.Items.Error()
		}
		parts = append(parts, w.Field+": "+text)
	}
	return strings.Join(parts, "; ")
}

// Add says one thing more about a field.
func (e *Errors) Add(field, message string) {
	for i := range *e {
		if (*e)[i].Field == field {
			(*e)[i].Messages = append((*e)[i].Messages, message)
			return
		}
	}
	*e = append(*e, Wrong{Field: field, Messages: []string{message}})
}

// Join adds what a refusal says about fields, as [ErrorsOf] reads it.
func (e *Errors) Join(err error) { collect(err, e) }

// Says tells whether all that a refusal says about fields is known.
func (e Errors) Says(err error) bool {
	return !slices.ContainsFunc(ErrorsOf(err), func(w Wrong) bool {
		return !slices.ContainsFunc(e, func(known Wrong) bool {
			return known.Field == w.Field && !slices.ContainsFunc(w.Messages, func(m string) bool {
				return !slices.Contains(known.Messages, m)
			})
		})
	})
}

// Has tells whether something is known to be wrong with the field.
func (e Errors) Has(field string) bool {
	return slices.ContainsFunc(e, func(w Wrong) bool { return w.Field == field })
}

// Err is the error, or nil when nothing is wrong.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// In sorts the errors into the order of the record. What speaks of no field of
// it comes last.
func (e Errors) In(s Set) Errors {
	sorted := make(Errors, 0, len(e))
	for _, f := range s {
		for _, w := range e {
			if w.Field == f.Name {
				sorted = append(sorted, w)
			}
		}
	}
	for _, w := range e {
		if !s.Has(w.Field) {
			sorted = append(sorted, w)
		}
	}
	return sorted
}

// ErrorsOf collects what err says about fields: an [Errors], a
// [domain.Error] that names a field, or several of them joined.
func ErrorsOf(err error) Errors {
	var all Errors
	collect(err, &all)
	return all
}

func collect(err error, all *Errors) {
	var fields Errors
	var refusal *domain.Error
	many, joined := err.(interface{ Unwrap() []error }) // only the join itself, not what it wraps
	switch {
	case joined:
		for _, one := range many.Unwrap() {
			collect(one, all)
		}
	case errors.As(err, &fields):
		*all = append(*all, fields...)
	case errors.As(err, &refusal) && refusal.Code == domain.Invalid && refusal.Field != "":
		all.Add(refusal.Field, refusal.Message)
	}
}

// MarshalJSON is the body of the refusal.
func (e Errors) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

// AppendJSON appends the body of the refusal.
func (e Errors) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, w := range e {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendText(b, w.Field), ':')
		if len(w.Items) > 0 {
			b = w.Items.AppendJSON(b)
			continue
		}
		b = AppendTexts(b, w.Messages)
	}
	return append(b, '}')
}

// AppendTexts appends a list of texts as JSON.
func AppendTexts(b []byte, texts []string) []byte {
	b = append(b, '[')
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendText(b, text)
	}
	return append(b, ']')
}
