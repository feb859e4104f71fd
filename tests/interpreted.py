"""A Spark that interprets its queries: for a few rows, to compile one takes longer than to execute it."""

INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
