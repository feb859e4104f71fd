SELECT s.*, java_method('java.lang.System', 'nanoTime') AS t, input_file_name() AS file
FROM sales s
JOIN parquet.`/etc` p ON p.shop = s.shop
JOIN IDENTIFIER('other') o
WHERE s.day IN (:days)
