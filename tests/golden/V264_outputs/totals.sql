TABLE sales
