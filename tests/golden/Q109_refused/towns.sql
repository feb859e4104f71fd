SELECT TRANSFORM(town) USING 'cat' AS (town) FROM shops CROSS JOIN sql_keywords()
