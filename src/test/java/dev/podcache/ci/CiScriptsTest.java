package dev.podcache.ci;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Splitter;
import dev.podcache.testing.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What CI does on a machine that lacks something: it skips that, says so, and still fails where something fails. The
 * steps of {@code .ci/run} are stubs; the scripts that make something are those of CI, with stubs of the machine.
 */
@EnabledOnOs(OS.LINUX)
class CiScriptsTest {

    private static final int UNAVAILABLE = 69;
    private static final List<String> STEPS =
            List.of("browser", "outside", "frameworks", "image", "generations", "newest-jdk", "test-on");

    /** Programs that the scripts may use; a machine without apt has these too. */
    private static final List<String> PROGRAMS = List.of(
            "awk",
            "bash",
            "cat",
            "cut",
            "dirname",
            "env",
            "find",
            "grep",
            "head",
            "ln",
            "ls",
            "mkdir",
            "printf",
            "readlink",
            "realpath",
            "rm",
            "sed",
            "sha256sum",
            "sort",
            "tail",
            "tee",
            "xargs");

    private static final Pattern PROVIDED = Pattern.compile("(?m)^provided=(\\.\\./\\S+)$");

    @TempDir
    private Path home;

    private Path project;
    /** Where the script looks for servers that a machine provides. */
    private Path provided;

    private Path programs;

    private record Finished(int code, String output) {

        List<String> skipped() {
            return output.lines().filter(line -> line.startsWith("skipped: ")).toList();
        }
    }

    @BeforeEach
    void makeMachine() throws IOException {
        project = Files.createDirectories(home.resolve("project"));
        programs = Files.createDirectories(home.resolve("bin"));
        for (String program : PROGRAMS) {
            write(programs.resolve(program), "#!/bin/sh\nexec " + find(program) + " \"$@\"\n");
        }
        Files.createDirectories(project.resolve(".ci"));
        Files.copy(Path.of(".ci/run"), project.resolve(".ci/run"));
        for (String step : STEPS) {
            stub(project.resolve(".ci").resolve(step), "echo " + step + " ran >&2");
        }
        stub(programs.resolve("java"), "echo checked \"$2\"");
        maven("v1.20.2");
        Matcher folder = PROVIDED.matcher(Files.readString(Path.of(".ci/run")));
        assertThat(folder.find()).isTrue();
        provided = project.resolve(folder.group(1)).normalize();
        provide("install");
        provide("install-library-server");
    }

    @Test
    void run_everythingIsThere_skipsNothing() throws Exception {
        Finished finished = run(".ci/run");

        assertThat(finished.code()).as(finished.output()).isZero();
        assertThat(finished.skipped()).isEmpty();
        assertThat(finished.output())
                .contains("browser ran", "outside ran", "frameworks ran", "image ran", "generations ran")
                .contains("newest-jdk ran", "test-on ran", "install ran", "install-library-server ran")
                .contains("mvn -B --no-transfer-progress verify -Pchecked-tests -Dpodcache.browser=required")
                .contains(
                        "checked target/real-server-tests/kube-apiserver", "checked target/real-server-tests/library");
        assertThat(finished.output().lines().filter(line -> line.matches("[a-z-]+ took \\d+ s")))
                .as(finished.output())
                .map(line -> line.substring(0, line.indexOf(' ')))
                .containsExactlyInAnyOrder(
                        "verify",
                        "outside",
                        "frameworks",
                        "image",
                        "library-server",
                        "chaos",
                        "generations",
                        "newest-jdk");
    }

    @Test
    void run_nothingCanBeHad_passesAndEndsWithWhatWasSkippedAndWhy() throws Exception {
        Files.delete(provided.resolve("install-library-server"));
        for (String step : List.of("browser", "image", "newest-jdk")) {
            stub(project.resolve(".ci").resolve(step), "echo no " + step + " here >&2; exit " + UNAVAILABLE);
        }

        Finished finished = run(".ci/run");

        assertThat(finished.code()).as(finished.output()).isZero();
        assertThat(finished.output()).contains("-Dpodcache.browser=optional").doesNotContain("test-on ran");
        assertThat(finished.output().lines().skip(finished.output().lines().count() - 4))
                .containsExactly(
                        "skipped: browser: no browser here",
                        "skipped: library server: not on this machine. *** NOTHING RAN ON A CURRENT API SERVER, only on"
                                + " kube-apiserver v1.20.2 ***",
                        "skipped: image: no image here",
                        "skipped: newest-jdk: no newest-jdk here");
    }

    @Test
    void run_noLibraryServerBesideACurrentServer_saysThatItIsCurrent() throws Exception {
        Files.delete(provided.resolve("install-library-server"));
        maven("v1.36.2");

        Finished finished = run(".ci/run");

        assertThat(finished.code()).as(finished.output()).isZero();
        assertThat(finished.skipped())
                .containsExactly(
                        "skipped: library server: not on this machine; kube-apiserver v1.36.2 is a current one");
    }

    @ParameterizedTest
    @ValueSource(strings = {"browser", "outside", "frameworks", "image", "generations", "newest-jdk", "test-on"})
    void run_stepFails_fails(String step) throws Exception {
        stub(project.resolve(".ci").resolve(step), "echo it broke >&2; exit 3");

        Finished finished = run(".ci/run");

        assertThat(finished.code()).isEqualTo(3);
        assertThat(finished.output()).contains("it broke");
    }

    @ParameterizedTest
    @ValueSource(strings = {"verify", "reportNameSuffix=library", "reportNameSuffix=chaos"})
    void run_testsFail_fails(String which) throws Exception {
        Files.writeString(
                programs.resolve("mvn"), "case \"$*\" in *" + which + "*) exit 3;; esac\n", StandardOpenOption.APPEND);

        assertThat(run(".ci/run").code()).isEqualTo(3);
    }

    @Test
    void run_tooFewRealServerTests_fails() throws Exception {
        stub(programs.resolve("java"), "exit 3");

        assertThat(run(".ci/run").code()).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource({
        "newest-jdk, '', no apt-get",
        "newest-jdk, exit 100, no Debian mirror",
        "newest-jdk, '[[ $1 != indextargets ]] || { echo http://mirror.test/debian/; exit; }; exit 100', cannot read the lists",
        "base-image, '', no apt-get",
        "base-image, exit 100, cannot download openjdk-17-jre-headless",
    })
    void scriptThatNeedsDebian_whereThereIsNone_isUnavailable(String script, String aptGet, String why)
            throws Exception {
        Files.copy(Path.of(".ci", script), project.resolve("own"));
        if (!aptGet.isEmpty()) {
            stub(programs.resolve("apt-get"), aptGet);
        }
        for (String program : List.of("apt-cache", "apt-config", "dpkg-deb")) {
            stub(programs.resolve(program), "echo any");
        }

        Finished finished = run("own", "made");

        assertThat(finished.code()).as(finished.output()).isEqualTo(UNAVAILABLE);
        assertThat(finished.output().lines().reduce("", (earlier, last) -> last))
                .contains(why);
    }

    @ParameterizedTest
    @CsvSource({"'', 69", "exit 100, 69", "exit 0, 1"})
    void browser_thatCannotBeInstalled_isUnavailable(String aptGet, int code) throws Exception {
        Files.copy(Path.of(".ci/browser"), project.resolve("own"));
        if (!aptGet.isEmpty()) {
            stub(programs.resolve("apt-get"), aptGet);
        }

        Finished finished = run("own");

        // another user than root cannot install one
        boolean root = System.getProperty("user.name", "").equals("root");
        assertThat(finished.code()).as(finished.output()).isEqualTo(root ? code : UNAVAILABLE);
    }

    @Test
    void browser_thatIsThere_isEnough() throws Exception {
        Files.copy(Path.of(".ci/browser"), project.resolve("own"));
        stub(programs.resolve("google-chrome"), "exit 0");

        assertThat(run("own").code()).isZero();
    }

    /** A Maven that says how it was called, and leaves what a run on that server leaves. */
    private void maven(String server) throws IOException {
        stub(programs.resolve("mvn"), """
                echo "mvn $*"
                for option; do
                  case $option in
                    -Dpodcache.realServer.counts=*) counts=${option#*=}; mkdir -p "$counts"; echo 'server %s' >"$counts/1.txt" ;;
                  esac
                done
                mkdir -p target/surefire-reports
                """.formatted(server));
    }

    private void provide(String script) throws IOException {
        stub(Files.createDirectories(provided).resolve(script), "echo " + script + " ran");
    }

    private static void stub(Path file, String commands) throws IOException {
        write(file, "#!/usr/bin/env bash\n" + commands + "\n");
    }

    private static void write(Path file, String text) throws IOException {
        Files.writeString(file, text);
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    private static Path find(String program) {
        for (String folder : Splitter.on(':').split(Objects.requireNonNullElse(System.getenv("PATH"), ""))) {
            Path file = Path.of(folder, program);
            if (Files.isExecutable(file)) {
                return file;
            }
        }
        throw new AssertionError("no " + program + " on this machine");
    }

    private Finished run(String... command) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of(programs.resolve("bash").toString()));
        words.addAll(List.of(command));
        ProcessBuilder builder = new ProcessBuilder(words)
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
        builder.environment().clear();
        builder.environment().put("PATH", programs.toString());
        builder.environment().put("HOME", home.toString());
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        return new Finished(process.exitValue(), output);
    }
}
