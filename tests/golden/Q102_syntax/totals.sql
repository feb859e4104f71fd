SELECT shop,
       (amount + 1
FROM sales
