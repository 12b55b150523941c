-- A fiscal key is of a subject and a year of issue, with whose legal period it ends
-- (docs/invoices.md, "The legal period"). A key of the earlier form has sealed invoices up
-- to now, whatever their year: it counts as one of the year in which this runs.
alter table subject_keys add column year integer; -- of issue; null: the key ends with an erasure
update subject_keys set year = extract(year from business_now() at time zone 'UTC') where purpose = 'fiscal';
create index subject_keys_year on subject_keys (year) where wrapped <> '';
