-- The secret keys that have sealed something here, so that a process with other
-- keys is refused (docs/security.md, "Replacing the key"). No key stands here.
create table secret_keys (
	key_id      text  primary key,
	check_value bytea not null,                              -- keyed hash of a constant
	sealing_at  timestamptz not null default real_now() -- since when it is the first key of processes
);
grant select, insert, update, delete on secret_keys to hostpanel_app;

-- What is still wrapped with a retired key.
create index on subject_keys (key_id);
