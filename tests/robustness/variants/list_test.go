package variants

import "slices"

// variants are all of them.
var variants = slices.Concat(ofTheLog, ofTheRuns, ofPayments)

const (
	oracle = "TestTheEngineDoesWhatTheModelDoes" // ends with the first difference from the model
	linear = "TestTheLogIsLinearizable"
)

var ofTheLog = []variant{{
	name: "a version of a stream may be written twice",
	why:  "two decisions on the same state both count: an order is paid twice",
	edits: []edit{{
		"eventstore/migrations/0001_eventstore.sql",
		"constraint events_stream_version unique (stream, version)",
		"constraint events_stream_version check (version > 0)",
	}},
	nets: []string{"TestWhatAnotherProcessHasWrittenCounts", linear},
}, {
	name:  "a command is not known by its id",
	why:   "a request that a client repeats after a lost answer is carried out twice",
	edits: []edit{{"eventstore/decide.go", "if repeated {", "if repeated && position < 0 {"}},
	nets:  []string{"TestARepeatedRequestAppendsNothing", linear},
}, {
	name: "writers do not take turns",
	why:  "an event becomes visible behind one that a reader has passed: the reader misses it",
	edits: []edit{
		{"eventstore/writerslock.go", "select pg_advisory_xact_lock(4801223014)", "select pg_advisory_xact_lock(pg_backend_pid())"},
	},
	nets: []string{"TestManyWriteIntoOneJournalAndNothingIsLost"},
}, {
	name:  "an expected version is not compared",
	why:   "an operator overwrites what another one has changed in the meantime",
	edits: []edit{{"eventstore/decide.go", "return looked && version != b.before.version", "return looked && version < 0"}},
	nets:  []string{"TestWhoHasSeenAnOlderVersionIsRefused", oracle},
}, {
	name: "the cache of streams outlives a conflict",
	why:  "a process that was overtaken is refused until its cache expires",
	edits: []edit{
		{"eventstore/store.go", "d, err := s.decide(ctx, cause, commands, try == 0)", "d, err := s.decide(ctx, cause, commands, true)"},
		{"eventstore/store.go", "\t\ts.states.cache.forget(d)\n", "\t\t_ = s.states.cache.forget\n"},
	},
	nets: []string{"TestWhatAnotherProcessHasWrittenCounts"},
}, {
	name: "a repeated attempt goes beside others",
	why:  "a request on many busy streams is overtaken each time, and refused",
	edits: []edit{
		{
			"eventstore/store.go", "s.turns.take(commands, try > 0 || s.states.isJournal(commands))",
			"s.turns.take(commands, s.states.isJournal(commands))",
		},
	},
	nets: []string{"TestARequestOnManyBusyStreamsIsNotOvertakenForEver"},
}, {
	name: "a decision that adds nothing is taken from the cache",
	why:  "a command is refused, or answered as done, by a state that another process has changed",
	edits: []edit{
		{
			"eventstore/decide.go", "b.recalled && (err != nil || d.repeated || b.added == 0)",
			"b.recalled && (err != nil && d.repeated && b.added < 0)",
		},
	},
	nets: []string{oracle},
}, {
	name: "a group is committed again after a lost answer",
	why:  "an append is refused as a conflict although it is in the log",
	edits: []edit{{
		"eventstore/groupcommit.go", "len(group) == 1 || errors.Is(err, ErrUnavailable) {",
		"len(group) == 1 || errors.Is(err, errors.ErrUnsupported) {",
	}},
	nets: []string{"TestAGroupWithoutAnAnswerIsNotCommittedAgain"},
}, {
	name:  "events are not chained by their hashes",
	why:   "an event that was changed or left out is not noticed",
	edits: []edit{{"eventstore/encode.go", "e.hash = e.chain(last[r.Stream])", "e.hash = e.chain(nil)"}},
	nets:  []string{"TestVerifyNamesTheFirstBrokenEvent"},
}, {
	name:  "an append does not check that its keys still stand",
	why:   "names of a person who was erased come back, sealed with the destroyed key",
	edits: []edit{{"eventstore/append.go", "if len(used) > 0 {", "if len(used) > 1<<20 {"}},
	nets:  []string{"TestNothingIsSealedAnewForWhoWasErased"},
}, {
	name:  "two processes may read as one reader",
	why:   "both handle the same events at once",
	edits: []edit{{"eventstore/lanes.go", "where name = $1 for update of readers skip locked`", "where name = $1`"}},
	nets:  []string{"TestOneProcessAtATimeHandsEventsOver"},
}, {
	name:  "a reader acknowledges before it has handled",
	why:   "an event whose handling was interrupted is never reacted to: the paid order stands still",
	edits: []edit{{"eventstore/lanes.go", "until = min(until, rows[i].position-1)", "until = max(until, 0)"}},
	nets:  []string{"TestAnEventThatIsNotHandledYetIsNotPassed"},
}}
