-- What `carrier_report.py` does, as a query: one row for each carrier over all days, most flights first.
--
-- It sums the counts of `delays_by_weather` and divides once, at the end, so the figures do not
-- depend on the number of days or files. Carriers with fewer flights than `minimum_flights` are left out.
WITH totals AS (
  SELECT
    carrier,
    count(DISTINCT day) AS days,
    sum(flights) AS flights,
    sum(cancelled) AS cancelled,
    sum(diverted) AS diverted,
    sum(departed) AS departed,
    sum(late) AS late,
    sum(dep_delay_minutes) AS minutes,
    sum(if(weather_complete, 0, flights)) AS flights_without_weather
  FROM delays_by_weather
  GROUP BY carrier
)
SELECT
  totals.carrier,
  coalesce(airlines.name, totals.carrier) AS name,  -- the code itself where the airline is not known
  days,
  flights,
  cancelled,
  diverted,
  departed,
  late,
  CAST(late / departed AS double) AS late_share,  -- of the departed, 0 to 1; null when none departed
  CAST(minutes / departed AS double) AS mean_dep_delay,  -- minutes; null when none departed
  flights_without_weather
FROM totals
LEFT JOIN airlines ON airlines.carrier = totals.carrier
WHERE flights >= :minimum_flights
ORDER BY flights DESC, carrier
