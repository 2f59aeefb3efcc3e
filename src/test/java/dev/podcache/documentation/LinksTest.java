package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What the README links to is there, and so is each test that it names for a promise. */
class LinksTest {

    private static final Pattern LINK = Pattern.compile("\\[([^\\]]+)]\\((?!https?:)([^)#]+)\\)");

    private record Link(String text, Path target) {

        boolean leads() throws IOException {
            int method = text.indexOf('#');
            return Files.exists(target)
                    && (method < 0 || Files.readString(target).contains("void " + text.substring(method + 1) + "("));
        }
    }

    @Test
    void readme_links_leadSomewhere() throws IOException {
        List<Link> links = LINK.matcher(Files.readString(Path.of("README.md")))
                .results()
                .map(found -> new Link(found.group(1), Path.of(found.group(2))))
                .toList();

        assertThat(links).hasSizeGreaterThan(10);
        assertThat(links).allSatisfy(link -> assertThat(link.leads()).isTrue());
    }
}
