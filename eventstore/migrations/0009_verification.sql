-- How far the check of the log in the background has come (docs/log.md,
-- "Tamper evidence"). One row.
create table log_verification (
	id          boolean primary key default true check (id),
	position    bigint  not null default 0,     -- of the last event that was checked
	hash        bytea   not null default '',    -- that it had
	is_over     boolean not null default false, -- the log was checked to its end
	broken      bigint  not null default 0,     -- events in this round that are not as they were written
	verified_at timestamptz,                    -- when the end was reached lastly
	next_at     timestamptz not null default real_now() + interval '1 hour'
);
insert into log_verification default values;
grant select, update on log_verification to hostpanel_app;
