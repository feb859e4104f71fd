-- the totals
INSERT INTO totals SELECT * FROM sales
