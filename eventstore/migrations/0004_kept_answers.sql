-- The people whose personal data a request has recorded. Its kept answer shows them
-- and is dropped when one of them is erased.
alter table once_keys add column subjects uuid[];
