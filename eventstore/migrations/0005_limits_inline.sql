-- The calls of a key stand in its row as they are, up to a page: to compress
-- them and to put them elsewhere, with each call, costs more than to count it.
alter table rate_windows set (toast_tuple_target = 8160);
