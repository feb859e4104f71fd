SELECT * FROM sales WHERE amount > :least
