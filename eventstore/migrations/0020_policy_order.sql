-- Postgres asks the policies of a table in the reverse order of their names, for each row.
-- "reads" is asked first from here on: it costs nothing for each row that is read, and most
-- statements read. The policy of the program itself was "writes".
do $$
declare
	kept regclass;
begin
	for kept in select polrelid::regclass from pg_policy join pg_class c on c.oid = polrelid
		where polname = 'writes' and c.relnamespace = 'public'::regnamespace order by 1 loop
		execute format('alter policy writes on %s rename to program', kept);
	end loop;
end $$;
