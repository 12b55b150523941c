-- What tells this installation of the panel from all others, and from a copy of its database
-- (docs/engine-ispconfig.md, "One panel for each engine"). One row.
create table installation (
	id         text    not null,               -- random; what the panel makes elsewhere carries it
	is_older   boolean not null,               -- true: what it made elsewhere before this table was there carries no id
	starts     bigint  not null default 0,     -- at the hosting engine, which counts them too
	mark       text    not null default '',    -- of the last one: a copy of the database has another at its next start
	takes_over boolean not null default false, -- true: the next start may find more starts there: the database was restored
	only_one   boolean primary key default true check (only_one)
);
insert into installation (id, is_older) select substr(replace(gen_random_uuid()::text, '-', ''), 1, 10), exists (select from events);
grant select, update on installation to hostpanel_app;

alter table installation enable row level security;
alter table installation force row level security;
create policy program on installation using (is_system());
