package console

import "os"

// An Ink colours words on a terminal; its zero value leaves them as they are.
type Ink struct{ on bool }

// Ink is used only where it shows, and not when the environment disables it
// (https://no-color.org).
func (c Console) Ink() Ink {
	return Ink{terminal(c.Out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func (i Ink) with(code, text string) string {
	if !i.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold is for titles.
func (i Ink) Bold(text string) string { return i.with("1", text) }

// Faint is for what is less important.
func (i Ink) Faint(text string) string { return i.with("2", text) }

// Red is for failures.
func (i Ink) Red(text string) string { return i.with("31", text) }

// Green is for success.
func (i Ink) Green(text string) string  { return i.with("32", text) }
func (i Ink) yellow(text string) string { return i.with("33", text) }

// Status colours the state of an order, a run or a piece of news.
func (i Ink) Status(state string) string {
	switch state {
	case "active", "done", "paid", "delivered":
		return i.Green(state)
	case "failed", "parked", "unmatched", "refused":
		return i.Red(state)
	case "pending", "payment_processing", "provisioning", "stored", "waiting", "running", "ready":
		return i.yellow(state)
	}
	return state
}
