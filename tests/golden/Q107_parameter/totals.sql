SELECT * FROM sales
WHERE amount > :least AND day = :busines_date AND shop = :shop
