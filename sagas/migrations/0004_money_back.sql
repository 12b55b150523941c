-- Keys that a payment provider knows wear out (rule S-6): a later generation
-- of one is another key for the same effect.
alter table effect
	add generation int         not null default 1,
	add keyed_at   timestamptz not null default now(), -- when the generation began
	add keyed_from int         not null default 0;     -- sends before it

-- News that a check has taken up: it is not news to the next one (rule P-9).
alter table webhook_inbox add seen_at timestamptz;
