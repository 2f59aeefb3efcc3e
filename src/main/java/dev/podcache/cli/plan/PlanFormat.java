package dev.podcache.cli.plan;

import java.util.Locale;

/** The form of the output of {@code plan}. */
enum PlanFormat {
    TEXT,
    JSON,
    SVG;

    /** Returns the format as the option spells it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
