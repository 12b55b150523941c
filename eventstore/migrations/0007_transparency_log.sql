-- The transparency log: a tree over all events, in the form in which observers
-- fetch it (docs/log.md, "Transparency log").

-- Each origin is one tree with a key of its own. The last one grows; earlier ones
-- stay as they are, for proofs that were given.
create table log_origins (
	number         int    primary key,          -- 1, 2, …
	origin         text   not null unique,      -- first line of the checkpoints; it never changes
	vkey           text   not null,
	key_id         text   not null,             -- the secret key that seals the log's key; blank: the key is lost
	nonce          bytea  not null,
	sealed         bytea  not null,
	policy         text   not null default '',  -- of the witnesses, as it was in force last
	reason         text   not null default '',  -- why it began; blank: it is the first one
	began_at       timestamptz not null default real_now(),
	size           bigint not null default 0,   -- events in the tree
	checkpoint     text   not null default '',  -- of that size, signed; blank: nothing is sealed yet
	sealed_at      timestamptz,
	published_size bigint not null default 0,   -- events in the last tree that the quorum has cosigned
	published      text   not null default '',  -- its checkpoint, with the cosignatures
	published_at   timestamptz
) with (fillfactor = 50);

-- The tiles of the trees. The last one of a level grows; full ones never change.
create table log_tiles (
	origin int      not null references log_origins,
	level  smallint not null,
	number bigint   not null,
	hashes bytea    not null,
	primary key (origin, level, number)
);
alter table log_tiles alter column hashes set storage external; -- hashes cannot be compressed

-- What each witness has cosigned last.
create table log_witnesses (
	origin   int    not null references log_origins,
	vkey     text   not null,
	size     bigint not null default 0,
	asked_at timestamptz not null default real_now(),
	trouble  text   not null default '', -- blank: the last answer was a cosignature
	primary key (origin, vkey)
);
grant select, insert, update on log_origins, log_tiles, log_witnesses to hostpanel_app;

do $$
declare
	kept text;
begin
	foreach kept in array array['log_origins', 'log_tiles', 'log_witnesses'] loop
		execute format('alter table %I enable row level security', kept);
		execute format('alter table %I force row level security', kept);
		execute format('create policy writes on %I using (is_system())', kept);
	end loop;
end $$;

-- The checkpoint up to which the log was verified last.
alter table log_verification
	add column origin     text not null default '',
	add column checkpoint text not null default '',
	add column compared_at timestamptz;
