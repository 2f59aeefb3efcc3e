package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.util.JavacTask;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

/** The Java blocks of the documentation, and of the Javadoc of {@code Podcache}, compile as they are. */
class ExamplesTest {

    private static final Pattern JAVADOC_BLOCK =
            Pattern.compile("<pre>\\{@code\\n(.*?)\\n \\* }</pre>", Pattern.DOTALL);

    /** Compiled by {@code .ci/frameworks}. */
    private static final Set<String> FILES_OF_PROJECTS = filesOfProjects();

    /** The errors in all examples. To compile them one by one takes several times as long. */
    private static List<Diagnostic<? extends JavaFileObject>> errors = List.of();

    /** An example, in a method of a class that is in a package of its own. */
    private static final class ExampleFile extends SimpleJavaFileObject {

        private final String example;
        private final String packageName;

        ExampleFile(String example, int number) {
            super(URI.create("string:///example" + number + "/Example.java"), Kind.SOURCE);
            this.example = example;
            this.packageName = "example" + number;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return """
                package %s;
                import dev.podcache.*;
                import dev.podcache.apiserver.fabric8.*;
                import dev.podcache.cli.*;
                import dev.podcache.embedded.*;
                import dev.podcache.josdk.*;
                import dev.podcache.kubelet.agent.*;
                import dev.podcache.kubelet.certificate.*;
                import dev.podcache.kubelet.eviction.*;
                import dev.podcache.manager.*;
                import dev.podcache.metrics.*;
                import dev.podcache.micrometer.*;
                import dev.podcache.object.*;
                import dev.podcache.kubelet.podsync.*;
                import dev.podcache.kubelet.runtime.*;
                import dev.podcache.kubelet.server.*;
                import dev.podcache.store.*;
                import dev.podcache.testkit.*;
                import dev.podcache.time.*;
                import io.fabric8.kubernetes.api.model.*;
                import io.fabric8.kubernetes.client.*;
                import io.fabric8.kubernetes.client.Config;
                import io.fabric8.kubernetes.client.ConfigBuilder;
                import io.javaoperatorsdk.operator.api.reconciler.*;
                import io.javaoperatorsdk.operator.api.reconciler.Context;
                import io.javaoperatorsdk.operator.processing.event.source.EventSource;
                import io.micrometer.core.instrument.MeterRegistry;
                import io.micrometer.core.instrument.Tags;
                import java.io.IOException;
                import java.nio.file.Path;
                import java.time.Duration;
                import java.util.List;
                import java.util.Map;
                import java.util.Set;
                import java.util.concurrent.*;
                import java.util.stream.Collectors;
                import org.jspecify.annotations.Nullable;
                class Example {
                  Podcache podcache;
                  MeterRegistry registry;
                  void example(KubernetesClient client, Pod pod) throws IOException {
                %s
                  }
                }
                """.formatted(packageName, example);
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
        List<String> examples = Stream.concat(
                        documents().stream().flatMap(document -> examples(document).stream()),
                        examplesOfTheFrontDoor().stream())
                .toList();
        List<ExampleFile> sources = IntStream.range(0, examples.size())
                .mapToObj(i -> new ExampleFile(examples.get(i), i))
                .toList();
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

    private static List<String> examples(Path document) {
        return Documents.blocks(document, "java").stream()
                .filter(example -> !FILES_OF_PROJECTS.contains(example))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void examples_compile(Path document) {
        assertThat(examples(document)).allSatisfy(ExamplesTest::requireCompiles);
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
