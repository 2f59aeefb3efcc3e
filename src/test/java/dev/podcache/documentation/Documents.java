package dev.podcache.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The Markdown files of this project that people read. */
final class Documents {

    static final Path README = Path.of("README.md");

    /** Of measured figures, for those who change the code. */
    static final Path RESULTS = Path.of("src/jmh/results/README.md");

    private static final Pattern BLOCK = Pattern.compile("(?ms)^( *)```(\\w*)\\n(.*?)^\\1```$");

    private Documents() {}

    /** Returns the files of the first level, all in {@code docs}, and the results. */
    static List<Path> all() {
        List<Path> files = new ArrayList<>(
                List.of(README, Path.of("CONTRIBUTING.md"), Path.of("CHANGELOG.md"), Path.of("SECURITY.md"), RESULTS));
        try (Stream<Path> docs = Files.list(Path.of("docs"))) {
            docs.filter(file -> file.toString().endsWith(".md")).sorted().forEach(files::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return files;
    }

    static String text(Path document) {
        try {
            return Files.readString(document);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the parts of a document: what stands before its first heading of the second level, and from each of these on. */
    static List<String> sections(Path document) {
        return List.of(text(document).split("(?m)^(?=## )"));
    }

    /** Returns the fenced blocks of a language in a document. */
    static List<String> blocks(Path document, String language) {
        return blocks(text(document), language);
    }

    /** Returns the fenced blocks of a language in a text. Those in a list are without its indentation. */
    static List<String> blocks(String text, String language) {
        return BLOCK.matcher(text)
                .results()
                .filter(block -> block.group(2).equals(language))
                .map(block -> block.group(3).replaceAll("(?m)^" + block.group(1), ""))
                .toList();
    }

    /** Returns the text of a document without its fenced blocks. */
    static String prose(Path document) {
        return BLOCK.matcher(text(document)).replaceAll((MatchResult block) -> "");
    }
}
