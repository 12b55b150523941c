package operations

// A Standstill counts what does not go on by itself, and tells how far the readers
// of the log are behind.
type Standstill struct {
	ParkedRuns        int64            // that stopped at a step
	FailingMails      int64            // that could not be sent so far, and are tried again
	UnmatchedWebhooks int64            // for which no order was found
	ParkedWebhooks    int64            // on which acting has failed too often
	ReaderLags        map[string]int64 // events that a reader has yet to see, by its name
}
