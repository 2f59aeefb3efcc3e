package dev.podcache.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The API is what CONTRIBUTING.md says it is: in its signatures, in the packages, and for the tools. */
@AnalyzeClasses(packages = "dev.podcache", importOptions = ArchitectureTest.WithoutTests.class)
final class PublicApiTest {

    private static final Path MAIN = Path.of("src/main/java");
    private static final String NOT_API = "<p>Not API";
    private static final Pattern MARKED =
            Pattern.compile("/\\*\\*(?:(?!\\*/).)*\\*/\\s*(?:@\\w+(?:\\([^)]*\\))?\\s+)*?@NotApi\\b", Pattern.DOTALL);
    private static final Pattern NESTED = Pattern.compile(
            "\\n {4}/\\*\\*(?:(?!\\*/).)*\\*/\\s*public (?:static |abstract |final |sealed )*(?:class|interface|record|enum) ",
            Pattern.DOTALL);

    @ArchTest
    static final ArchRule the_api_names_only_the_api = classes()
            .that(describe("are API", PublicApi::contains))
            .should(PublicApi.nameOnlyTheApi())
            .because("a user who needs a type to call us must be able to depend on it");

    @ArchTest
    static final ArchRule each_type_of_the_list_is_there = classes()
            .that(describe("are named in PublicApi", type -> PublicApi.TYPES.contains(type.getName())))
            .should(be(describe("API", PublicApi::contains)));

    @ArchTest
    static void every_other_package_says_that_it_is_not_api(JavaClasses ignored) throws IOException {
        for (Path file :
                sources().filter(path -> path.endsWith("package-info.java")).toList()) {
            String name = MAIN.relativize(file.getParent()).toString().replace('/', '.');
            String expected = PublicApi.PACKAGES.contains(name)
                    ? ""
                    : NOT_API + exceptions(name) + ": may change in any release.";
            String said = Files.readString(file)
                    .lines()
                    .map(line -> line.replaceFirst("^ \\* ", ""))
                    .filter(line -> line.startsWith(NOT_API))
                    .collect(Collectors.joining("\n"));
            assertThat(said).as(file.toString()).isEqualTo(expected);
        }
    }

    private static String exceptions(String packageName) {
        String types = PublicApi.TYPES.stream()
                .filter(type -> type.matches(Pattern.quote(packageName) + "\\.\\w+"))
                .map(type -> "{@code " + type.substring(packageName.length() + 1) + "}")
                .collect(Collectors.joining(", "));
        // not in the library's jar, but described to those who run the program with a runtime of theirs
        String all = packageName.equals("dev.podcache.cli") ? "{@code Main.run}" : types;
        return all.isEmpty() ? "" : ", except " + all;
    }

    @ArchTest
    static void contributing_names_the_api(JavaClasses ignored) throws IOException {
        String text = Files.readString(Path.of("CONTRIBUTING.md"));
        String section = text.substring(text.indexOf("## Versions"), text.indexOf("## Commits"));

        assertThat(found(section, "^\\| `(dev\\.podcache[a-z0-9.]*)` \\|"))
                .containsExactlyElementsOf(PublicApi.PACKAGES);
        assertThat(found(section, "`((?:[a-z0-9]+\\.)+[A-Z]\\w+)`"))
                .containsExactlyElementsOf(PublicApi.TYPES.stream()
                        .map(type -> type.substring("dev.podcache.".length()))
                        .toList());
    }

    @ArchTest
    static void japicmp_and_javadoc_take_the_api(JavaClasses ignored) throws IOException {
        String pom = Files.readString(Path.of("pom.xml"));
        List<String> all = Stream.concat(PublicApi.PACKAGES.stream(), PublicApi.TYPES.stream())
                .toList();

        assertThat(found(pom, "<include>(dev\\.podcache[\\w.]*)</include>")).containsExactlyElementsOf(all);
        assertThat(found(pom, "<include>(dev/podcache[\\w/]*(?:/\\*)?)\\.java</include>"))
                .containsExactlyElementsOf(
                        Stream.concat(PublicApi.PACKAGES.stream().map(name -> name + ".*"), PublicApi.TYPES.stream())
                                .map(name -> name.replace('.', '/'))
                                .toList());
    }

    private static List<String> found(String text, String pattern) {
        return Pattern.compile(pattern, Pattern.MULTILINE)
                .matcher(text)
                .results()
                .map(match -> match.group(1))
                .toList();
    }

    /** Javadoc knows its own tag only. */
    @ArchTest
    static void what_is_not_api_is_hidden_from_javadoc(JavaClasses ignored) throws IOException {
        int marked = 0;
        for (Path file : sources().toList()) {
            Matcher matcher = MARKED.matcher(Files.readString(file));
            while (matcher.find()) {
                assertThat(matcher.group()).as(file.toString()).contains("@hidden");
                marked++;
            }
            if (Files.readString(file).contains("\n@NotApi\n")) {
                // each has a page of its own, which the tag of the outer type does not hide
                assertThat(NESTED.matcher(Files.readString(file)).results().map(MatchResult::group))
                        .as(file.toString())
                        .allSatisfy(nested -> assertThat(nested).contains("@hidden"));
            }
        }
        assertThat(marked).isPositive();
    }

    private static Stream<Path> sources() throws IOException {
        try (Stream<Path> files = Files.walk(MAIN)) {
            return files.filter(path -> path.toString().endsWith(".java")).toList().stream();
        }
    }
}
