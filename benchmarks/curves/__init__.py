"""Scale curves: what work costs as a store grows, each with the exponent of its growth; 0 is flat."""
