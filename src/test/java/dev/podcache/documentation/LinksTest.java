package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The files, headings and tests that the documentation links to exist. */
class LinksTest {

    private static final Pattern LINK = Pattern.compile("\\[([^\\]]*)]\\((?!https?:)([^)#]*)(?:#([^)]*))?\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
    private static final Pattern NOT_IN_ANCHORS = Pattern.compile("[^\\p{Alnum} _-]");

    /**
     * A link.
     *
     * @param text may end in {@code #method}, of the class that is linked to
     * @param anchor null if the link names none
     */
    private record Link(String text, Path target, @Nullable String anchor) {

        boolean leads() {
            if (!Files.exists(target)) {
                return false;
            }
            int method = text.indexOf('#');
            boolean hasMethod =
                    method < 0 || Documents.text(target).contains("void " + text.substring(method + 1) + "(");
            return hasMethod && (anchor == null || anchors(target).contains(anchor));
        }
    }

    static List<Path> documents() {
        return Documents.all();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void links_leadSomewhere(Path document) {
        assertThat(links(document)).allSatisfy(link -> assertThat(link.leads()).isTrue());
    }

    @Test
    void readme_claims_haveLinks() {
        assertThat(links(Documents.README)).hasSizeGreaterThan(25);
    }

    @Test
    void docs_areLinkedToFromTheReadme() {
        assertThat(links(Documents.README).stream().map(Link::target))
                .containsAll(Documents.all().stream()
                        .filter(file -> !file.equals(Documents.README) && !file.equals(Documents.RESULTS))
                        .toList());
    }

    private static List<Link> links(Path document) {
        return LINK.matcher(Documents.prose(document))
                .results()
                .map(found -> new Link(found.group(1), target(document, found.group(2)), found.group(3)))
                .toList();
    }

    private static Path target(Path document, String path) {
        return path.isEmpty() ? document : document.resolveSibling(path).normalize();
    }

    /** Returns the anchors that GitHub makes of the headings. */
    private static List<String> anchors(Path document) {
        return HEADING.matcher(Documents.prose(document))
                .results()
                .map(heading -> NOT_IN_ANCHORS
                        .matcher(heading.group(1).toLowerCase(Locale.ROOT))
                        .replaceAll("")
                        .replace(' ', '-'))
                .toList();
    }
}
