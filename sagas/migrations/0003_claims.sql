-- A plan of these functions is kept, also one that was made while saga_run was empty.
-- So they read by index always.

-- Tells whether a run may go on in a queue at once, and keeps the queue's row until the
-- commit: claims of the queue wait for it, so the limit stays exact. Runs that are due
-- come first. The function is volatile, so its second query sees what was committed
-- before the row was locked.
create function has_room(of_queue text, breaks int) returns boolean language plpgsql set enable_seqscan = off set jit = off as $$
begin
	perform from saga_queue where queue = of_queue and not paused and fails < breaks and coalesce(open_until, real_now()) <= real_now()
		and not in_recovery() for no key update;
	return found
		and not exists (select from saga_run where queue = of_queue and status in ('ready', 'waiting') and run_at <= business_now())
		and (select count(*) from saga_run where queue = of_queue and status = 'running' and lease_until >= real_now())
			< (select max_in_flight from saga_queue where queue = of_queue);
end $$;

-- Leases runs of a queue: those that are due, and those with an expired lease, which come
-- first. Claims of one queue go one after the other, so that its limit is exact: what
-- comes after the lock sees what was committed before. Without anything to claim it locks
-- and writes nothing. An open breaker lets one probe through. A row tells how many runs
-- could be claimed, at most one more than asked for; without a lease its run is null.
create function claim_runs(of_queue text, most int, by text, lease interval, known text[], breaks int)
	returns table (claimable int, run saga_run) language plpgsql set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
	found_runs int;
	room       int;
begin
	select count(*) into found_runs from (
		(select from saga_run where queue = of_queue and status in ('ready', 'waiting') and run_at <= business_now()
			and definition = any(known) limit most + 1)
		union all
		(select from saga_run where queue = of_queue and status = 'running' and lease_until < real_now() and definition = any(known) limit most + 1)
	) due;
	if found_runs = 0 then
		return;
	end if;
	perform from saga_queue where queue = of_queue and not paused and coalesce(open_until, real_now()) <= real_now() for no key update;
	if not found then
		return;
	end if;
	select least(most, case when fails >= breaks then 1 else max_in_flight end - (
			select count(*) from saga_run where queue = of_queue and status = 'running' and lease_until >= real_now()))
		into room from saga_queue where queue = of_queue and not in_recovery();
	return query
		with lost as (
			select id from saga_run where queue = of_queue and status = 'running' and lease_until < real_now() and definition = any(known)
			order by lease_until limit greatest(0, coalesce(room, 0)) for update skip locked
		), due as (
			select id from saga_run where queue = of_queue and status in ('ready', 'waiting') and run_at <= business_now() and definition = any(known)
			order by run_at limit greatest(0, coalesce(room, 0)) for update skip locked
		), pick as (
			select id from (select id, 0 o from lost union all select id, 1 from due) x order by o limit greatest(0, coalesce(room, 0))
		)
		update saga_run s set status = 'running', attempt = attempt + 1, worker = by, lease_token = lease_token + 1,
			lease_until = real_now() + lease
		from pick where s.id = pick.id
		returning found_runs, s;
	if not found then
		return query select found_runs, null::saga_run;
	end if;
end $$;
