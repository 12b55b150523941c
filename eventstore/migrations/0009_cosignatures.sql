-- The cosignature of each witness on the last checkpoint that it has cosigned. A quorum
-- may come together over several rounds.
alter table log_witnesses
	add column checkpoint  text not null default '',
	add column cosignature text not null default '';
