"""The runs that list the tables of catalogs and measure tables."""
