package domain

// Happened is a fact as those hear of it who follow the log: where it stands,
// whose it is and what it says. Personal data in it is still sealed.
type Happened struct {
	Position int64
	Stream   Stream
	Version  int // of the stream
	Event    Event
}
