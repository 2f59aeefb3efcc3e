package dev.podcache.cli.doctor;

import com.google.common.base.Ascii;
import com.google.common.base.Strings;
import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.ProgramEvent;
import picocli.CommandLine.Help.Ansi;

/**
 * One thing that doctor looked at. Contains no credentials and no contents of objects.
 *
 * @param check what was looked at, in one word
 * @param what what was found
 * @param why why it matters; empty if all is well
 * @param remedy what to do; empty if all is well
 */
record Diagnosis(Level level, String check, String what, String why, String remedy) {

    /** How bad it is. */
    enum Level {
        OK("green"),
        /** Works, but not as well as it could. */
        NOTE("yellow"),
        /** Does not work, or will stop working. */
        PROBLEM("red");

        private final String colour;

        Level(String colour) {
            this.colour = colour;
        }
    }

    private static final int LEVEL_WIDTH = Level.PROBLEM.name().length() + 2;
    private static final int CHECK_WIDTH = "credentials".length() + 2;

    static Diagnosis ok(String check, String what) {
        return new Diagnosis(Level.OK, check, what, "", "");
    }

    static Diagnosis note(String check, String what, String why, String remedy) {
        return new Diagnosis(Level.NOTE, check, what, why, remedy);
    }

    static Diagnosis problem(String check, String what, String why, String remedy) {
        return new Diagnosis(Level.PROBLEM, check, what, why, remedy);
    }

    boolean isProblem() {
        return level == Level.PROBLEM;
    }

    /**
     * Returns the event that shows this: up to three lines of text.
     *
     * @param coloured whether the text shows the level in its colour too
     */
    ProgramEvent event(boolean coloured) {
        String indent = System.lineSeparator() + " ".repeat(LEVEL_WIDTH + CHECK_WIDTH);
        String word = Strings.padEnd(Ascii.toLowerCase(level.name()), LEVEL_WIDTH, ' ');
        String text = (coloured ? Ansi.ON.string("@|" + level.colour + " " + word + "|@") : word)
                + Strings.padEnd(check, CHECK_WIDTH, ' ')
                + what
                + (why.isEmpty() ? "" : indent + "why: " + why)
                + (remedy.isEmpty() ? "" : indent + "do:  " + remedy);
        return new ProgramEvent(
                "diagnosis",
                text,
                ImmutableMap.<String, Object>builder()
                        .put("level", Ascii.toLowerCase(level.name()))
                        .put("check", check)
                        .put("what", what)
                        .put("why", why)
                        .put("do", remedy)
                        .buildOrThrow());
    }
}
