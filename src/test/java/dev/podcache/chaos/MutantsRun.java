package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * Has each mutant of Mutants.md found by what is to find it. Too slow for {@code verify}, and called so that it is no
 * part of it: {@code mvn -Pmutants verify}, or for one of them {@code -Dmutants.only=its-name}.
 */
@Tag("mutants")
class MutantsRun {

    static final String CLASS_PATH =
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

    private static final Path FOLDER = Path.of("target/mutants");

    private final Set<FoundBy> passing = new HashSet<>();

    @TestFactory
    Stream<DynamicTest> each_isFound() throws IOException {
        String only = System.getProperty("mutants.only", "");
        List<Mutant> mutants = MutantList.read().stream()
                .filter(mutant -> only.isEmpty() || mutant.name().equals(only))
                .toList();
        assertThat(mutants).as("mutants that are called %s", only).isNotEmpty();
        return mutants.stream().map(mutant -> DynamicTest.dynamicTest(mutant.name(), () -> assertFound(mutant)));
    }

    private void assertFound(Mutant mutant) throws Exception {
        MutantBuild build = new MutantBuild(FOLDER.resolve(mutant.name()), CLASS_PATH);
        if (mutant.foundBy() instanceof FoundBy.OneTest test) {
            requirePasses(test, build.file("output-without.txt"));
        }
        Path output = build.file("output.txt");

        assertThat(run(mutant.foundBy(), build.compile(mutant), output))
                .as("what was found of %s; all that was said is in %s", mutant, output)
                .containsAnyElementsOf(mutant.foundBy().findings());
    }

    /** A test that fails without a mutant finds none. One that is skipped here finds none here. */
    private void requirePasses(FoundBy.OneTest test, Path output) throws Exception {
        if (!passing.contains(test)) {
            List<String> found = run(test, CLASS_PATH, output);
            assumeThat(found).as("%s; see %s", test, output).doesNotContain(OneTestProgram.Outcome.SKIPPED.id());
            assertThat(found)
                    .as("%s without a mutant; all that it said is in %s", test, output)
                    .containsExactly(OneTestProgram.Outcome.PASSED.id());
            passing.add(test);
        }
    }

    /** What a run of that says it has found. */
    private static List<String> run(FoundBy foundBy, String classPath, Path output) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp", classPath));
        System.getProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith("podcache."))
                .forEach(name -> command.add("-D" + name + "=" + System.getProperty(name)));
        command.addAll(foundBy.arguments());
        Files.createDirectories(output.getParent());
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(foundBy.within().toSeconds(), TimeUnit.SECONDS))
                    .as("the run ends")
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        return Files.readAllLines(output).stream()
                .filter(line -> line.contains(Finding.PREFIX))
                // jqwik prints a text of its own before, without a line break
                .map(line -> line.substring(line.indexOf(Finding.PREFIX) + Finding.PREFIX.length()))
                .map(found -> found.substring(0, found.indexOf(':')))
                .toList();
    }
}
