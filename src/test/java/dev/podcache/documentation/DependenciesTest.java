package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The dependencies that the documentation tells users to add have versions that are built with or tested. */
class DependenciesTest {

    private static final Path POM = Path.of("pom.xml");
    private static final Pattern DEPENDENCY = Pattern.compile(
            "<groupId>([\\w.-]+)</groupId>\\s*<artifactId>([\\w.-]+)</artifactId>\\s*<version>([^<$]+)</version>");

    private record Dependency(String group, String artifact, String version) {}

    static List<Dependency> dependencies() {
        return Documents.all().stream()
                .flatMap(document -> Documents.blocks(document, "xml").stream())
                .flatMap(block -> DEPENDENCY.matcher(block).results())
                .map((MatchResult found) -> new Dependency(found.group(1), found.group(2), found.group(3)))
                .distinct()
                .toList();
    }

    @ParameterizedTest
    @MethodSource("dependencies")
    void version_isBuiltWithOrTested(Dependency dependency) {
        String pom = Documents.text(POM);
        if (dependency.group().equals("dev.podcache")) {
            assertThat(pom)
                    .contains("<artifactId>" + dependency.artifact() + "</artifactId>\n  <version>"
                            + dependency.version() + "</version>");
        } else {
            assertThat(pom).contains("<artifactId>" + dependency.artifact() + "</artifactId>");
            assertThat(pom + Documents.text(Path.of(".ci/generations")) + Documents.text(Path.of(".ci/frameworks")))
                    .containsPattern("[> =\"]" + Pattern.quote(dependency.version()) + "[< \"})]");
        }
    }

    @Test
    void dependencies_areFound() {
        assertThat(dependencies()).extracting(Dependency::artifact).contains("podcache", "oshi-core");
    }
}
