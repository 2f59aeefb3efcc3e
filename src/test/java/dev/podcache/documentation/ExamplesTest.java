package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The Java blocks of the documentation, and of the Javadoc of {@code Podcache}, compile as they are. */
class ExamplesTest {

    private static final Pattern JAVADOC_BLOCK =
            Pattern.compile("<pre>\\{@code\\n(.*?)\\n \\* }</pre>", Pattern.DOTALL);

    /** Compiled by {@code .ci/frameworks}. */
    private static final Set<String> FILES_OF_PROJECTS = filesOfProjects();

    @TempDir
    Path classes;

    private static Set<String> filesOfProjects() {
        try (Stream<Path> files = Files.walk(Path.of("src/test/projects"))) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .map(Documents::text)
                    .collect(Collectors.toSet());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Path> documents() {
        return Documents.all().stream()
                .filter(document -> !Documents.blocks(document, "java").isEmpty())
                .toList();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void examples_compile(Path document) {
        assertThat(Documents.blocks(document, "java")).allSatisfy(example -> {
            if (!FILES_OF_PROJECTS.contains(example)) {
                requireCompiles(example);
            }
        });
    }

    @Test
    void documents_haveExamples() {
        assertThat(documents()).contains(Documents.README).hasSizeGreaterThan(4);
    }

    @Test
    void frontDoor_javadocExampleCompiles() throws IOException {
        String source = Files.readString(Path.of("src/main/java/dev/podcache/Podcache.java"));
        List<String> examples = blocks(JAVADOC_BLOCK, source).stream()
                .map(block -> block.replaceAll("(?m)^ \\* ?", ""))
                .toList();

        assertThat(examples).hasSize(1);
        assertThat(examples).allSatisfy(this::requireCompiles);
    }

    private static List<String> blocks(Pattern pattern, String text) {
        List<String> blocks = new ArrayList<>();
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            blocks.add(matcher.group(1));
        }
        return blocks;
    }

    private void requireCompiles(String example) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        assertThat(compiler).as("a JDK, not a JRE").isNotNull();
        StringWriter complaints = new StringWriter();
        JavaFileObject source =
                new SimpleJavaFileObject(URI.create("string:///Example.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return """
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
                        """.formatted(example);
                    }
                };
        List<String> options =
                List.of("-d", classes.toString(), "-cp", System.getProperty("java.class.path"), "-proc:none");
        boolean compiled = compiler.getTask(complaints, null, null, options, null, List.of(source))
                .call();
        assertThat(compiled).as("%s%n%s", example, complaints).isTrue();
    }
}
