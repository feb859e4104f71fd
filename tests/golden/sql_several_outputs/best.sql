SELECT * FROM daily WHERE amount > :least
