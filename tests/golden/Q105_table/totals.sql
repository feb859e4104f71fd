SELECT *
FROM saels s
JOIN towns t ON t.shop = s.shop
