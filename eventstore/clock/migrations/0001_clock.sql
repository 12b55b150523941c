-- The two clocks of the database (docs/clocks.md). All other SQL asks one of
-- these functions. They have one expression each, so Postgres puts it in their
-- place: an index serves a condition on them as it serves one on now().

-- The business clock. Stable, never volatile: indexes depend on it.
create function business_now() returns timestamptz language sql stable parallel safe as $$ select now() $$;
-- The same clock at the moment of the call, for the append to the log.
create function business_clock() returns timestamptz language sql volatile parallel safe as $$ select clock_timestamp() $$;

-- The real clock: of the transaction, of the statement, and of the call.
create function real_now() returns timestamptz language sql stable parallel safe as $$ select now() $$;
create function real_statement() returns timestamptz language sql stable parallel safe as $$ select statement_timestamp() $$;
create function real_clock() returns timestamptz language sql volatile parallel safe as $$ select clock_timestamp() $$;
