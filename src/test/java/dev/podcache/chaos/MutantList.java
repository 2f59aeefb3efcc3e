package dev.podcache.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reads Mutants.md: one section a mutant, as its introduction says. */
final class MutantList {

    static final Path FILE = Path.of("src/test/java/dev/podcache/chaos/Mutants.md");

    private static final Pattern SECTION = Pattern.compile("(?m)^## ");
    private static final Pattern FOUND_BY_RUN = Pattern.compile(
            "(?m)^Found by: (embedded|real) run in (verify|nightly), as `([^`]+)`(?: or `([^`]+)`)?\\.$");
    private static final Pattern FOUND_BY_TEST = Pattern.compile("(?m)^Found by: test `([^`#]+)#([^`#]+)`\\.$");
    private static final Pattern EDIT = Pattern.compile("(?s)In `([^`]+)`:\n```diff\n(.*?)```");
    private static final String PACKAGE = "dev.podcache.";
    private static final Set<Character> MARKS = Set.of('-', '+');

    private MutantList() {}

    static List<Mutant> read() throws IOException {
        return parse(Files.readString(FILE));
    }

    /** The mutants of a text like that of the file. */
    static List<Mutant> parse(String text) {
        List<Mutant> mutants = new ArrayList<>();
        Set<String> names = new HashSet<>();
        List<String> sections = List.of(SECTION.split(text));
        for (String section : sections.subList(1, sections.size())) {
            Mutant mutant = mutant(section);
            if (!names.add(mutant.name())) {
                throw new IllegalArgumentException("two mutants are called " + mutant.name());
            }
            mutants.add(mutant);
        }
        return mutants;
    }

    private static Mutant mutant(String section) {
        String name = section.lines().findFirst().orElse("").strip();
        List<Mutant.SourceEdit> edits = new ArrayList<>();
        for (Matcher edit = EDIT.matcher(section); edit.find(); ) {
            edits.add(new Mutant.SourceEdit(
                    edit.group(1), side(edit.group(2), '-', name), side(edit.group(2), '+', name)));
        }
        if (edits.isEmpty()) {
            throw new IllegalArgumentException(name + " changes nothing");
        }
        return new Mutant(name, foundBy(section, name), edits);
    }

    private static FoundBy foundBy(String section, String name) {
        Matcher test = FOUND_BY_TEST.matcher(section);
        if (test.find()) {
            return new FoundBy.OneTest(PACKAGE + test.group(1), test.group(2));
        }
        Matcher run = FOUND_BY_RUN.matcher(section);
        if (!run.find()) {
            throw new IllegalArgumentException(
                    name + " has no line that says which run finds it, and as what, or which test");
        }
        List<Shape> shapes = Stream.of(run.group(3), run.group(4))
                .filter(Objects::nonNull)
                .map(id -> shape(id, name))
                .toList();
        return new FoundBy.OneRun(
                ChaosProgram.On.valueOf(run.group(1).toUpperCase(Locale.ROOT)),
                shapes,
                run.group(2).equals("nightly"));
    }

    private static Shape shape(String id, String name) {
        return Arrays.stream(Shape.values())
                .filter(shape -> shape.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(name + " is found as " + id + ", which no run finds"));
    }

    /** The lines of one side of a change, which begin with its mark. */
    private static String side(String diff, char mark, String name) {
        StringBuilder lines = new StringBuilder();
        for (String line : diff.lines().toList()) {
            if (line.isEmpty() || !MARKS.contains(line.charAt(0))) {
                throw new IllegalArgumentException(name + " has a line that begins with neither - nor +: " + line);
            }
            if (line.charAt(0) == mark) {
                lines.append(line, 1, line.length()).append('\n');
            }
        }
        return lines.toString();
    }
}
