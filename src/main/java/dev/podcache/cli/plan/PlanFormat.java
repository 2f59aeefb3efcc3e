package dev.podcache.cli.plan;

/** The form of the output of {@code plan}. */
enum PlanFormat {
    TEXT,
    JSON,
    SVG
}
