package dev.podcache.chaos;

import java.util.List;

/**
 * A small change to main code that must be found.
 *
 * @param name stays the same as long as the promise does, whatever becomes of the code
 * @param foundBy what must find it
 * @param edits what to change
 */
record Mutant(String name, FoundBy foundBy, List<SourceEdit> edits) {

    /**
     * One change.
     *
     * @param file below {@code src/main/java/dev/podcache}
     * @param old what occurs exactly once in it
     * @param replacement what takes its place
     */
    record SourceEdit(String file, String old, String replacement) {

        /** The text with the change. */
        String applyTo(String text) {
            int at = text.indexOf(old);
            if (at < 0 || text.indexOf(old, at + 1) >= 0) {
                throw new IllegalStateException(
                        "the mutant no longer applies: " + file + " must contain exactly once:\n" + old);
            }
            return text.substring(0, at) + replacement + text.substring(at + old.length());
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
