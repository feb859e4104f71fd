SELECT shop, sum(amount) AS amount FROM sales GROUP BY shop
