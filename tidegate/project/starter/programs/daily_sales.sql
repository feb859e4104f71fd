-- Daily sales: one row for each day and item, from the orders of all regions.
--
-- The tables are the datasets under `reads`, limited to the partitions of the run. The rows become
-- the output partitions of the run. `tidegate docs sql` has more.
SELECT
  day,
  item,
  sum(quantity) AS quantity,
  round(sum(quantity * price), 2) AS revenue
FROM raw_orders
GROUP BY day, item
