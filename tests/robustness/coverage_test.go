package robustness

import "strings"

// The cells of the table of what has to be seen. A short run sees the usual ones; a run
// of "make robustness" goes on until it has seen the rare ones too.
var usual, rare = strings.Split(strings.TrimSpace(usualCells), "\n"), strings.Split(strings.TrimSpace(rareCells), "\n")

const usualCells = `
append = conflict: Conflict, please retry.
append = done
clock = nothing new
continue = conflict: The run is not paused.
continue = done
continue = nothing new
do gate: completed
do gate: gate
do made: completed
do made: not_ready
do made: parked
do mail: completed
do make: completed
do make: fenced
do make: login
do make: name_leaving
do make: name_taken
do make: parked
do make: timeout
do note: completed
do note: earlier_wish
do note: fenced
do open: completed
do pay: completed
execute = conflict: This incident has no such answer.
execute = done
execute = invalid: kind: … is not a valid choice.
execute = nothing new
expect = done
expect = nothing new
expect = stale: The resource was changed in the meantime.
gate = done
gate = nothing new
inbox = done
inbox = nothing new
inbox: matched
inbox: postponed
inbox: unmatched
inbox: waits
joined: gate and pay
joined: mail and open
joined: make and made
joined: note and open
joined: pay and mail
lose = nothing new
order = nothing new
pass = conflict: The run does not wait for this.
pause = conflict: The run cannot be paused.
pause = done
queue = nothing new
release = conflict: No worker holds the run.
repeat = invalid: kind: … is not a valid choice.
repeat = nothing new
restart = nothing new
retry = conflict: The run is not parked.
retry = done
retry = invalid: input: This step has no such input.
skip = conflict: The run is not parked.
skip = invalid: external_id: Nothing of ours was found under this id.
skip = invalid: external_id: This field is required.
skip = invalid: step: … is not a valid choice.
start = conflict: Conflict, please retry.
start = done
superseded: done
take back = done
time = nothing new
undo made: completed
undo make: completed
undo note: completed
webhook = invalid: Invalid signature.
webhook = nothing new
webhook: ignored
webhook: repeated
webhook: stored
work = done
work = idle
work = nothing new
`

const rareCells = `
continue = not_found: No Saga matches the given query.
do gate: fenced
do gate: killed
do made: busy
do made: fenced
do made: killed
do made: login
do made: timeout
do mail: busy
do mail: deferred
do mail: fenced
do mail: held_up
do mail: killed
do mail: login
do mail: refused
do mail: stored_error
do mail: timeout
do mail: unanswered
do make: busy
do make: held_up
do make: killed
do make: quarantine
do make: refused
do make: stored_error
do make: undecided
do note: invalid
do note: killed
do open: fenced
do open: killed
do pay: busy
do pay: fenced
do pay: held_up
do pay: killed
do pay: login
do pay: parked
do pay: quarantine
do pay: refused
do pay: stored_error
do pay: timeout
do pay: undecided
execute = conflict: The incident is settled.
expect = conflict: The incident is settled.
expect = conflict: This incident has no such answer.
inbox: matched late
inbox: parked
joined steps are recorded one by one
joined: gate and mail
joined: gate and open
joined: made and pay
joined: make and pay
joined: pay and open
pass = done
pass = not_found: No Saga matches the given query.
pause = not_found: No Saga matches the given query.
pause = nothing new
paused after_complete
paused after_intent
paused answered
paused before_complete
paused before_intent
paused sent
paused waiting
release = done
release = not_found: No Saga matches the given query.
released after_complete
released after_intent
released answered
released before_complete
released before_intent
released sent
released waiting
repeat = conflict: The incident is settled.
repeat = conflict: This incident has no such answer.
repeat = done
retry = conflict: What was asked for before may exist. Retry without changes first.
retry = not_found: No Saga matches the given query.
skip = done
skip = not_found: No Saga matches the given query.
sleeps after_complete
sleeps after_intent
sleeps answered
sleeps before_complete
sleeps before_intent
sleeps sent
sleeps waiting
superseded: quarantine
take back = conflict: The run is over.
take back = not_found: No Saga matches the given query.
take back = nothing new
taken back after_complete
taken back after_intent
taken back answered
taken back before_complete
taken back before_intent
taken back sent
taken back waiting
undo gate: completed
undo gate: fenced
undo gate: killed
undo mail: completed
undo make: busy
undo make: fenced
undo make: held_up
undo make: killed
undo make: login
undo make: parked
undo make: quarantine
undo make: refused
undo make: timeout
undo make: undecided
undo note: fenced
undo note: killed
undo pay: busy
undo pay: completed
undo pay: fenced
undo pay: held_up
undo pay: login
undo pay: parked
undo pay: timeout
webhook: another body
webhook: another event
`
