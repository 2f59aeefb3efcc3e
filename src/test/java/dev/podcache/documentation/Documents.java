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

/** The Markdown files that readers of this project start with. */
final class Documents {

    static final Path README = Path.of("README.md");

    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w*)\\n(.*?)^```$");

    private Documents() {}

    /** Returns the files of the first level, and all in {@code docs}. */
    static List<Path> all() {
        List<Path> files = new ArrayList<>(
                List.of(README, Path.of("CONTRIBUTING.md"), Path.of("CHANGELOG.md"), Path.of("SECURITY.md")));
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

    /** Returns the fenced blocks of a language in a document. */
    static List<String> blocks(Path document, String language) {
        return BLOCK.matcher(text(document))
                .results()
                .filter(block -> block.group(1).equals(language))
                .map(block -> block.group(2))
                .toList();
    }

    /** Returns the text of a document without its fenced blocks. */
    static String prose(Path document) {
        return BLOCK.matcher(text(document)).replaceAll((MatchResult block) -> "");
    }
}
