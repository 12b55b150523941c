-- A run that begins to wait for a stream, and an append that lets such runs go on,
-- take turns: otherwise each could miss the other's uncommitted row, and the run would
-- sleep until its next look. Both functions are volatile, so their queries see what was
-- committed before the lock was given.

-- Lets the runs go on that wait for a stream; it is part of an append to the stream.
create function release_runs(stream text) returns void language plpgsql as $$
begin
	perform pg_advisory_xact_lock(hashtextextended('saga_run/awaits/' || stream, 0));
	update saga_run set run_at = business_now() where id in (
		select id from saga_run where awaits = stream and status = 'waiting' for update skip locked);
end $$;

-- The position of the stream's last event, for a run that begins to wait for it.
create function awaited_position(awaited text) returns bigint language plpgsql as $$
begin
	if awaited = '' then
		return 0;
	end if;
	perform pg_advisory_xact_lock(hashtextextended('saga_run/awaits/' || awaited, 0));
	return (select position from events where stream = awaited order by version desc limit 1);
end $$;
