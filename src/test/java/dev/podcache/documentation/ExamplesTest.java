package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.util.JavacTask;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The Java blocks of the documentation compile with the imports that their section shows, and that of the Javadoc of {@code
 * Podcache} as it is.
 */
class ExamplesTest {

    private static final Pattern IMPORT = Pattern.compile("(?m)^import [\\w.]+;\\n");
    private static final Pattern JAVADOC_BLOCK =
            Pattern.compile("<pre>\\{@code\\n(.*?)\\n \\* }</pre>", Pattern.DOTALL);

    /** What readers have themselves: the package, and a custom resource and a runtime of their own. */
    private static final String THEIR_OWN = """
            import dev.podcache.example.SmallRuntime;
            import dev.podcache.josdk.Website;
            """;

    private static final String OF_THE_FRONT_DOOR = """
            import dev.podcache.*;
            import dev.podcache.manager.*;
            import io.fabric8.kubernetes.api.model.*;
            """;

    /** Compiled by {@code .ci/frameworks}. */
    private static final Set<String> FILES_OF_PROJECTS = filesOfProjects();

    /** The errors in all examples. To compile them one by one takes several times as long. */
    private static List<Diagnostic<? extends JavaFileObject>> errors = List.of();

    /** An example, in a method of a class that is in a package of its own and has these imports. */
    private static final class ExampleFile extends SimpleJavaFileObject {

        private final String example;
        private final String imports;
        private final String packageName;

        ExampleFile(String imports, String example, int number) {
            super(URI.create("string:///example" + number + "/Example.java"), Kind.SOURCE);
            this.example = example;
            this.imports = imports;
            this.packageName = "example" + number;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return """
                package %s;
                %s
                class Example {
                  dev.podcache.Podcache podcache;
                  io.micrometer.core.instrument.MeterRegistry registry;
                  void example(io.fabric8.kubernetes.client.KubernetesClient client, io.fabric8.kubernetes.api.model.Pod pod)
                      throws java.io.IOException {
                %s
                  }
                }
                """.formatted(packageName, imports, IMPORT.matcher(example).replaceAll(""));
        }
    }

    private static Set<String> filesOfProjects() {
        try (Stream<Path> files = Files.walk(Path.of("src/test/projects"))) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .map(Documents::text)
                    .collect(Collectors.toSet());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @BeforeAll
    static void compileAll() throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        assertThat(compiler).as("a JDK, not a JRE").isNotNull();
        List<ExampleFile> sources = new ArrayList<>();
        for (Path document : documents()) {
            for (String section : Documents.sections(document)) {
                String imports = THEIR_OWN + importsOf(section);
                examples(section).forEach(example -> sources.add(new ExampleFile(imports, example, sources.size())));
            }
        }
        examplesOfTheFrontDoor()
                .forEach(example -> sources.add(new ExampleFile(OF_THE_FRONT_DOOR, example, sources.size())));
        DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
        List<String> options = List.of("-cp", System.getProperty("java.class.path"), "-proc:none", "-Xmaxerrs", "1000");

        ((JavacTask) compiler.getTask(null, null, said, options, null, sources)).analyze();

        errors = said.getDiagnostics().stream()
                .filter(each -> each.getKind() == Diagnostic.Kind.ERROR)
                .toList();
    }

    static List<Path> documents() {
        return Documents.all().stream()
                .filter(document -> !Documents.blocks(document, "java").isEmpty())
                .toList();
    }

    private static List<String> examples(String text) {
        return Documents.blocks(text, "java").stream()
                .filter(example -> !FILES_OF_PROJECTS.contains(example))
                .toList();
    }

    /** Readers copy from one section: what its examples import stands there, in the first example that needs it. */
    private static String importsOf(String section) {
        return examples(section).stream()
                .flatMap(example -> IMPORT.matcher(example).results())
                .map(MatchResult::group)
                .collect(Collectors.joining());
    }

    @ParameterizedTest
    @MethodSource("documents")
    void examples_withTheImportsOfTheirSection_compile(Path document) {
        assertThat(examples(Documents.text(document))).allSatisfy(ExamplesTest::requireCompiles);
    }

    @Test
    void documents_haveExamples() {
        assertThat(documents()).contains(Documents.README).hasSizeGreaterThan(4);
    }

    @Test
    void frontDoor_javadocExampleCompiles() {
        assertThat(examplesOfTheFrontDoor()).singleElement().satisfies(ExamplesTest::requireCompiles);
    }

    private static List<String> examplesOfTheFrontDoor() {
        return JAVADOC_BLOCK
                .matcher(Documents.text(Path.of("src/main/java/dev/podcache/Podcache.java")))
                .results()
                .map(block -> block.group(1).replaceAll("(?m)^ \\* ?", ""))
                .toList();
    }

    private static void requireCompiles(String example) {
        // what is in no file, such as a wrong option, is wrong with each
        assertThat(errors)
                .filteredOn(error -> !(error.getSource() instanceof ExampleFile file) || file.example.equals(example))
                .as(example)
                .isEmpty();
    }
}
