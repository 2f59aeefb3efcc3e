package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * Has each mutant of Mutants.md found by the chaos run that is to find it. Too slow for {@code verify}, and called so
 * that it is no part of it: {@code mvn -Pmutants verify}, or for one of them {@code -Dmutants.only=its-name}.
 */
@Tag("mutants")
class MutantsRun {

    private static final Path FOLDER = Path.of("target/mutants");
    private static final Duration RUNS_WITHIN = Duration.ofMinutes(4);
    private static final String NIGHTLY_MINUTES = "5";

    /** One run of the code as it is comes first: a finding of that would be no mutant's. */
    @TestFactory
    Stream<DynamicTest> chaosRun_ofEachMutant_findsIt() throws IOException {
        String only = System.getProperty("mutants.only", "");
        return MutantList.read().stream()
                .filter(mutant -> only.isEmpty() || mutant.name().equals(only))
                .map(mutant -> DynamicTest.dynamicTest(mutant.name(), () -> assertFound(mutant)));
    }

    private static void assertFound(Mutant mutant) throws Exception {
        MutantBuild build = new MutantBuild(
                FOLDER.resolve(mutant.name()),
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        Path output = build.file("output.txt");
        run(mutant, build.compile(mutant), output);

        assertThat(found(output))
                .as("what the run of %s found; all that it said is in %s", mutant, output)
                .containsAnyElementsOf(mutant.shapes().stream().map(Shape::id).toList());
    }

    private static void run(Mutant mutant, String classPath, Path output) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp", classPath));
        if (mutant.nightly()) {
            command.add("-Dchaos.minutes=" + NIGHTLY_MINUTES);
        }
        command.addAll(List.of(ChaosProgram.class.getName(), mutant.on().name()));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            Duration within = mutant.nightly() ? RUNS_WITHIN.plusMinutes(Long.parseLong(NIGHTLY_MINUTES)) : RUNS_WITHIN;
            assertThat(process.waitFor(within.toSeconds(), TimeUnit.SECONDS))
                    .as("the run ends")
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
    }

    /** The shapes in what a run has printed. */
    private static List<String> found(Path output) throws IOException {
        return Files.readAllLines(output).stream()
                .filter(line -> line.startsWith(Finding.PREFIX))
                .map(line -> line.substring(Finding.PREFIX.length(), line.indexOf(':')))
                .toList();
    }
}
