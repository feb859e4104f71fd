SELECT shop FROM sales;
DROP TABLE sales
