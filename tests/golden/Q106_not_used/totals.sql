SELECT shop, sum(amount) AS amount FROM Sales GROUP BY shop
