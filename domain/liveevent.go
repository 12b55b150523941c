package domain

// LiveEvent is an event as those hear of it who follow the log: where it stands,
// whose it is and what it says. Personal data in it is still sealed.
type LiveEvent struct {
	Position int64
	Stream   Stream
	Version  int // of the stream
	Event    Event
}
