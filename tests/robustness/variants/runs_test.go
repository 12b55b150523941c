package variants

const fencedRun = "where id = $1 and lease_token = $2 and status = 'running' and step = $3"

var ofTheRuns = []variant{{
	name: "completions of a worker are not fenced",
	why:  "a worker whose run was taken over completes the step a second time",
	edits: []edit{
		{
			"sagas/workrow.go", "lease_token = arg.token and saga_run.status = 'running' and saga_run.step = arg.at",
			"lease_token >= arg.token and arg.at >= 0",
		},
	},
	nets: []string{oracle},
}, {
	name: "intents are not fenced",
	why:  "a worker whose run was taken over calls the engine beside its successor",
	edits: []edit{{
		"sagas/ledger.go",
		"run.lease_token = $6 and run.status = 'running' and run.step = $7 and run.lease_until >= real_now() + $8::interval",
		"run.lease_token >= $6 and $7::int >= 0 and $8::interval is not null",
	}},
	nets: []string{oracle},
}, {
	name: "a worker without its lease may put its run back",
	why:  "the run is due while its successor works on it: two workers have it",
	edits: []edit{
		{
			"sagas/queue.go", fencedRun + " returning id, run_at",
			"where id = $1 and lease_token >= $2 and $3::int >= 0 returning id, run_at",
		},
	},
	nets: []string{oracle},
}, {
	name: "compensations are not fenced",
	why:  "a worker whose run was taken over takes back what its successor has confirmed",
	edits: []edit{
		{"sagas/compensate.go", fencedRun + " for no key update", "where id = $1 and lease_token >= $2 and $3::int >= 0 for no key update"},
	},
	nets: []string{oracle},
}, {
	name: "a call is made before its intent is written",
	why:  "a worker that dies after the call leaves no trace of it: the object is made twice",
	edits: []edit{
		{
			"sagas/effect.go", "\tif err := s.intend(ctx, c, step, key, call); err != nil {\n",
			"\tr, err := s.do(ctx, limited, c, call)\n\tif err := s.intend(ctx, c, step, key, call); err != nil {\n",
		},
		{"sagas/effect.go", "\tr, err := s.do(ctx, limited, c, call)\n\tif err == nil {\n", "\tif err == nil {\n"},
	},
	nets: []string{oracle},
}, {
	name: "an effect is repeated without a look-up",
	why:  "what was made before its answer was lost is made a second time",
	edits: []edit{
		{"sagas/effect.go", "if known.State != \"\" && (call.Lookup != nil || !call.Repeatable) {", "if known.State == \"never\" {"},
	},
	nets: []string{oracle},
}, {
	name: "a look-up that finds nothing is believed at once",
	why:  "a call that is still on its way makes the object beside the repeated one",
	edits: []edit{
		{"sagas/effect.go", "known.MayHaveHappened() && known.Age < quarantine {", "known.MayHaveHappened() && known.Age < 0*quarantine {"},
	},
	nets: []string{oracle},
}, {
	name:  "a claim may be taken from its owner",
	why:   "two resources write to one object of the engine",
	edits: []edit{{"sagas/ledger.go", " where external_claim.owner = excluded.owner", ""}},
	nets:  []string{oracle},
}, {
	name: "a step's row is completed in one transaction, its events in the next",
	why:  "a crash in between leaves a run that its history contradicts",
	edits: []edit{
		{
			"sagas/worker.go",
			"_, err = s.store.ExecuteWith(ctx, cause, rows, commands...); !errors.Is(err, eventstore.ErrUnavailable) {",
			"_, err = s.store.ExecuteWith(ctx, cause, rows); err == nil {\n\t\t\t\t_, err = s.store.ExecuteWith(ctx, " +
				"cause, nil, commands...)\n\t\t\t}\n\t\t\tif !errors.Is(err, eventstore.ErrUnavailable) {",
		},
	},
	nets: []string{oracle},
}, {
	name: "events are written in one transaction, the step's row in the next",
	why:  "a worker whose run was taken over adds events that its successor adds too",
	edits: []edit{{
		"sagas/unrecorded.go", "\terr := s.append(u.first.origin().With(ctx), c, s.causeOf(c, what), rows, u.commands)\n",
		"\terr := s.append(u.first.origin().With(ctx), c, s.causeOf(c, what), nil, u.commands)\n\tif err == nil " +
			"{\n\t\terr = s.append(ctx, c, s.causeOf(c, \"row\"), rows, nil)\n\t}\n",
	}},
	nets: []string{oracle},
}, {
	name:  "what joined steps write beside the log is left out",
	why:   "an effect that was confirmed stays intended, and is asked for again",
	edits: []edit{{"sagas/unrecorded.go", "\trows = slices.Concat(rows, u.rows)\n", ""}},
	nets:  []string{oracle},
}, {
	name:  "a wait does not look at what was committed since its claim",
	why:   "a run that begins to wait while its end is committed sleeps until its next look",
	edits: []edit{{"sagas/queue.go", "when awaited_position($9) > $11 then", "when awaited_position($9) < $11 then"}},
	nets:  []string{oracle},
}, {
	name:  "a run is handed over to a queue without a look at its limit",
	why:   "an engine gets more calls at once than its operator allows",
	edits: []edit{{"sagas/unrecorded.go", "and has_room($1, $2)", "and $2::int > 0"}},
	nets:  []string{"TestAHandOverKeepsTheLimitOfItsQueue"},
}, {
	name:  "a call outside does not wait until its queue has let the run in",
	why:   "an engine whose queue is paused or full is asked all the same",
	edits: []edit{{"sagas/effect.go", `c.todo.enters != ""`, `c.todo.enters == "no queue"`}},
	nets:  []string{"TestARunAsksNothingOfAQueueThatHasNotLetItIn"},
}, {
	name: "what a worker tells beside a step is not fenced",
	why:  "a tenant reads of a failed attempt that the successor has made good",
	edits: []edit{
		{
			"sagas/lease.go", "lease_token = arg.token\n\t\t\tand status = 'running'`",
			"lease_token >= arg.token`",
		},
	},
	nets: []string{"TestAWorkerWithoutItsLeaseTellsNothing"},
}}

var ofPayments = []variant{{
	name: "the inbox takes a webhook twice",
	why:  "a webhook that a provider repeats is handled again",
	edits: []edit{{
		"sagas/migrations/0001_sagas.sql",
		"\tprimary key (provider, event_id)\n);\ncreate unique index webhook_inbox_transmission on webhook_inbox " +
			"(provider, transmission_id)",
		"\tcheck (provider <> '')\n);\ncreate index webhook_inbox_transmission on webhook_inbox (provider, transmission_id)",
	}},
	nets: []string{"TestAHundredEqualWebhooksAtOnceCountOnce"},
}, {
	name:  "a payment may be booked for two orders",
	why:   "one payment pays for two services",
	edits: []edit{{"sagas/payments/booking.go", " where payment_object.order_id = excluded.order_id", ""}},
	nets:  []string{"TestOnePaymentPaysOneOrderOnly"},
}, {
	name:  "each attempt at a payment has a key of its own",
	why:   "a refund whose answer was lost is made a second time",
	edits: []edit{{"sagas/keygeneration.go", "const keySends = 2", "const keySends = 0"}},
	nets:  []string{oracle},
}}
