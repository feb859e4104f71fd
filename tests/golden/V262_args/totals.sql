SELECT * FROM sales WHERE day = :key
