-- Folded states of long streams, so that a decision reads their last events only
-- (docs/log.md, "Long streams"). Rows may be deleted at any time. The table is
-- unlogged: a crash of the database empties it, and backups leave it out.
create unlogged table snapshots (
	stream  text  collate "C" primary key,
	fold    text  not null, -- by what the state was folded; others do not read it
	version int   not null, -- of the last event in the state
	hash    bytea not null, -- of that event
	state   json  not null,
	ids     bytea not null  -- four bytes of the id of each event up to there
);
alter table snapshots alter column ids set storage external; -- they are random
grant select, insert, update, delete on snapshots to hostpanel_app;

alter table snapshots enable row level security;
alter table snapshots force row level security;
create policy writes on snapshots using (is_system());
