package dev.podcache.kubelet.agent;

import static dev.podcache.kubelet.agent.ProcessFixture.launch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.base.Splitter;
import com.google.common.base.Throwables;
import dev.podcache.kubelet.runtime.ByteText;
import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Any bytes go through the process runtime: in variables and arguments on the way in, in lines of any length on the way out. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@EnabledOnOs(OS.LINUX)
class ProcessBytesTest extends OnProcesses {

    /** Copies its environment, which no program may change before, and its arguments. */
    private static final String COPY = "cat /proc/$$/environ >$PODCACHE_ROOT/environ;"
            + " tr '\\0' '\\n' </proc/$$/cmdline >/dev/null; cat /proc/$$/cmdline >$PODCACHE_ROOT/cmdline; echo ready; sleep 300";

    private static byte[] allBytes() {
        byte[] bytes = new byte[255];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i + 1);
        }
        return bytes;
    }

    private static Map<String, String> hostile() {
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("BINARY", ByteText.of(allBytes()));
        environment.put("QUOTES", "it's \"$HOME\" `id` $(id) \\\\ \n\n");
        environment.put("EMPTY", "");
        environment.put("my.key", "dots");
        environment.put("tls-key", ByteText.of(allBytes()));
        environment.put("1st", "a digit");
        environment.put("-x", "an option");
        environment.put("--chdir", "/tmp");
        environment.put("-", "a dash");
        environment.put(" !\"#$%&'()*+,/:;<>?@[\\]^`{|}~", "punctuation");
        environment.put("UTF", "gr\u00fc\u00df \ud83d\ude00");
        for (String ofShell : List.of(
                "IFS",
                "OPTIND",
                "LINENO",
                "PPID",
                "PWD",
                "OLDPWD",
                "UID",
                "SHELLOPTS",
                "RANDOM",
                "SECONDS",
                "LC_ALL",
                "ENV",
                "PS4",
                "BASH_ENV",
                "now",
                "line",
                "LONGEST",
                "script",
                "size",
                "number")) {
            environment.put(ofShell, "7");
        }
        return environment;
    }

    private static Map<String, String> parsed(byte[] environ) {
        Map<String, String> found = new TreeMap<>();
        for (String each : Splitter.on('\0').omitEmptyStrings().split(ByteText.of(environ))) {
            int equals = each.indexOf('=', 1);
            found.put(each.substring(0, equals), each.substring(equals + 1));
        }
        return found;
    }

    @Test
    void start_anyVariablesAndArguments_arriveByteByByte() throws IOException, InterruptedException {
        String binary = ByteText.of(allBytes());
        fixture.start(launch(hostile(), "/bin/sh", "-c", COPY, "sh", binary, "", "it's", "-x", "a=b"));
        fixture.awaitLine("ready");

        Map<String, String> found =
                parsed(Files.readAllBytes(fixture.instance(0).resolve("root/environ")));
        assertThat(found).containsAllEntriesOf(hostile()).containsKeys("PATH", "PODCACHE_ROOT");
        List<String> arguments = Splitter.on('\0')
                .splitToList(ByteText.of(Files.readAllBytes(fixture.instance(0).resolve("root/cmdline"))));
        assertThat(arguments).containsExactly("/bin/sh", "-c", COPY, "sh", binary, "", "it's", "-x", "a=b", "");
    }

    @Test
    void exec_inAContainerWithAnyVariables_hasThemToo() throws IOException, InterruptedException {
        // a shell that executes another program drops names that it does not know
        fixture.start(launch(hostile(), "/bin/sh", "-c", "echo ready; sleep 300; true"));
        fixture.awaitLine("ready");

        assertExecHasAnyVariables();
        // reads them from the container's command
        fixture.restarted();
        assertExecHasAnyVariables();
    }

    private void assertExecHasAnyVariables() throws IOException, InterruptedException {
        List<String> command = List.of("/bin/sh", "-c", "cat /proc/$$/environ; cat; exit 7", "gr\u00fc\u00df");
        try (ContainerProcess process = fixture.runtime.exec(fixture.key, "main", command, false)) {
            try (OutputStream in = process.stdin()) {
                in.write("INPUT=of the command".getBytes(StandardCharsets.US_ASCII));
            }
            Map<String, String> found = parsed(process.stdout().readAllBytes());
            assertThat(process.await()).isEqualTo(7);
            Map<String, String> expected = hostile();
            assertThat(found).containsAllEntriesOf(expected).containsEntry("INPUT", "of the command");
        }
    }

    @Test
    void start_secrets_areInNoFileAndNoArgumentOfTheSupervisor() throws IOException, InterruptedException {
        fixture.start(
                launch(Map.of("PASSWORD", "hunter2"), "/bin/sh", "-c", "echo ready; exec sleep 300", "$PASSWORD"));
        fixture.awaitLine("ready");

        for (String file : List.of("environ", "cmdline")) {
            Path ofSupervisor = Path.of("/proc", Long.toString(fixture.pid("supervisor")), file);
            assertThat(new String(Files.readAllBytes(ofSupervisor), StandardCharsets.ISO_8859_1))
                    .doesNotContain("hunter2");
        }
        try (Stream<Path> files = Files.walk(fixture.directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(file).content(StandardCharsets.ISO_8859_1).doesNotContain("hunter2");
            }
        }
    }

    @Test
    void start_whatNoProcessCanReceive_isRefusedWithoutItsValue() {
        String secret = "hunter2";
        for (String value : List.of(secret + "\0", secret.repeat(20_000))) {
            assertRefused(() -> fixture.start(launch(Map.of("my.key", value), "true")), "environment variable");
            assertRefused(() -> fixture.start(launch(Map.of(), "true", value)), "word 1 of the command");
        }
        assertRefused(() -> fixture.start(launch(Map.of("my.key", secret), "a=b")), "= in its name");
        assertThat(fixture.runtime.status(fixture.pod).containers()).isEmpty();
    }

    /** The kernel cuts the name of a process after 15 bytes: here in the middle of the last letter. */
    @Test
    void start_nameOfTheProcessIsCutWithinACharacter_itIsFoundMeasuredAndTerminated()
            throws IOException, InterruptedException {
        fixture.start(launch(
                Map.of("NAME", "\u043f\u0440\u0438\u0432\u0435\u0442\u0438\u043a"),
                "sh",
                "-c",
                "printf '#!/bin/sh\\nrm \"$0\"\\necho ready\\nsleep 300\\ntrue\\n' >\"$NAME\";"
                        + " chmod +x \"$NAME\"; exec \"./$NAME\""));
        fixture.awaitLine("ready");

        assertThat(fixture.exec("echo beside")).isEqualTo("beside\n");
        assertThat(fixture.runtime.usage()).hasSize(1);
        fixture.runtime.stopPod(fixture.key, Duration.ofMinutes(5));

        assertThat(fixture.end().getExitCode()).isEqualTo(143);
    }

    private static void assertRefused(org.assertj.core.api.ThrowableAssert.ThrowingCallable start, String why) {
        assertThatThrownBy(start)
                .isInstanceOf(IOException.class)
                .hasMessageContaining(why)
                .satisfies(e -> assertThat(Throwables.getStackTraceAsString(e)).doesNotContain("hunter2"));
    }

    @Test
    void output_lineOfNineMegabytes_isReadInOnePiece() throws IOException, InterruptedException {
        fixture.runToEnd("echo before; head -c 9000000 /dev/zero | tr '\\0' x; echo; printf 'no end'");

        String logs = fixture.logs();
        assertThat(logs).hasSize("before\n".length() + 9_000_001 + "no end\n".length());
        assertThat(logs).startsWith("before\nxxx").endsWith("xxx\nno end\n");
        assertThat(Splitter.on('\n').splitToList(logs)).hasSize(4);
        assertThat(fixture.logs(tail(1))).isEqualTo("no end\n");
        assertThat(fixture.logs(tail(2))).hasSize(9_000_001 + "no end\n".length());
        assertThat(fixture.logs(new LogOptions(false, false, true, OptionalLong.of(2), Optional.empty())))
                .matches("(?s)\\S+Z x+\n\\S+Z no end\n");
    }

    private static LogOptions tail(long lines) {
        return new LogOptions(false, false, false, OptionalLong.of(lines), Optional.empty());
    }

    @Test
    void output_followedWhileALongLineIsWritten_isTheSame() throws IOException, InterruptedException {
        fixture.run("for i in 1 2 3; do head -c 1500000 /dev/zero | tr '\\0' $i; sleep 0.1; done; echo; echo last");

        try (InputStream logs = fixture.runtime.logs(fixture.key, "main", ProcessFixture.FOLLOW);
                BufferedReader lines = ProcessFixture.reader(logs)) {
            assertThat(lines.readLine()).hasSize(4_500_000).startsWith("11").endsWith("33");
            assertThat(lines.readLine()).isEqualTo("last");
            assertThat(lines.readLine()).isNull();
        }
    }

    /** Without an end of the line, neither a shell nor a file grows without bounds. */
    @Test
    void output_lineWithoutEnd_isRotated() throws IOException, InterruptedException {
        fixture.restarted(
                ProcessRuntime.builder(fixture.directory, fixture.timekeeper).outputLimit(100_000));

        fixture.runToEnd("head -c 6000000 /dev/zero | tr '\\0' x");

        try (Stream<Path> files = Files.list(fixture.instance(0))) {
            List<Path> outputs = files.filter(
                            file -> file.getFileName().toString().startsWith("output."))
                    .toList();
            assertThat(outputs).hasSize(2);
            for (Path output : outputs) {
                assertThat(Files.size(output)).isLessThan(1_100_000);
            }
        }
        assertThat(fixture.logs()).matches("x+\n");
    }
}
