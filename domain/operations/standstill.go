package operations

// A LogReader is a reader of the log, and how far it is.
type LogReader struct {
	Name     string
	Position int64 // of the last event that it has seen
	Behind   int64 // events that it has yet to see
	IsStuck  bool  // there are some, and it has not moved for a minute
}

// A Standstill counts what does not go on by itself, and tells how far the readers
// of the log are behind.
type Standstill struct {
	ParkedRuns        int64            // that stopped at a step
	FailingMails      int64            // that could not be sent so far, and are tried again
	UnmatchedWebhooks int64            // for which no order was found
	ParkedWebhooks    int64            // on which acting has failed too often
	ReaderLags        map[string]int64 // events that a reader has yet to see, by its name
}
