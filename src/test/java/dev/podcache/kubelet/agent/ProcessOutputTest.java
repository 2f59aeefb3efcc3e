package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.kubelet.runtime.ContainerLogs.LogOptions;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The output of processes. */
@EnabledOnOs(OS.LINUX)
class ProcessOutputTest extends OnProcesses {

    private static LogOptions tail(long lines) {
        return new LogOptions(false, false, false, OptionalLong.of(lines), Optional.empty());
    }

    private List<Path> outputFiles() throws IOException {
        try (Stream<Path> files = Files.list(fixture.instance(0))) {
            return files.filter(file -> String.valueOf(file.getFileName()).startsWith("output."))
                    .toList();
        }
    }

    @Test
    void logs_haveBothStreamsInOrder() throws IOException, InterruptedException {
        fixture.runToEnd("echo one; echo two >&2; echo; printf '%s\\n' ' three\\n '; printf four");

        assertThat(fixture.logs()).isEqualTo("one\ntwo\n\n three\\n \nfour\n");
    }

    @Test
    void logs_bytesThatAreNoText_arriveUnchanged() throws IOException, InterruptedException {
        fixture.runToEnd("printf '\\377\\001\\302\\n'");

        try (InputStream logs = fixture.runtime.logs(fixture.key, "main", LogOptions.ALL)) {
            assertThat(logs.readAllBytes()).containsExactly(0xff, 1, 0xc2, '\n');
        }
    }

    @Test
    void logs_tail_returnsTheLastLines() throws IOException, InterruptedException {
        fixture.runToEnd("echo 1; echo 2; echo 3");

        assertThat(fixture.logs(tail(2))).isEqualTo("2\n3\n");
        assertThat(fixture.logs(tail(0))).isEmpty();
        assertThat(fixture.logs(tail(9))).isEqualTo("1\n2\n3\n");
    }

    @Test
    void logs_timestamps_areThoseOfTheLines() throws IOException, InterruptedException {
        Instant before = fixture.timekeeper.wallTime().minusMillis(20);
        fixture.runToEnd("echo text");

        String line = fixture.logs(new LogOptions(false, false, true, OptionalLong.empty(), Optional.empty()));

        assertThat(line).matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{9}Z text\n");
        assertThat(Instant.parse(line.substring(0, line.indexOf(' '))))
                .isBetween(before, fixture.timekeeper.wallTime().plusMillis(20));
    }

    @Test
    void logs_since_leavesOutEarlierLines() throws IOException, InterruptedException {
        fixture.runUntilReady("echo ready; while [ ! -e go ]; do sleep 0.05; done; echo late");
        Instant between = fixture.timekeeper.wallTime().plusMillis(20);
        // the times of lines are made of two clocks in hundredths of a second: they may be 20 ms too early
        Patience.await().until(() -> fixture.timekeeper.wallTime().isAfter(between.plusMillis(20)));
        Files.createFile(fixture.instance(0).resolve("root/go"));
        fixture.awaitChange();

        assertThat(fixture.logs(new LogOptions(false, false, false, OptionalLong.empty(), Optional.of(between))))
                .isEqualTo("late\n");
        assertThat(fixture.logs(new LogOptions(false, false, false, OptionalLong.of(1), Optional.of(between))))
                .isEqualTo("late\n");
    }

    @Test
    void logs_follow_waitsForLinesAndEndsWithTheContainer() throws IOException, InterruptedException {
        fixture.run("echo 1; while [ ! -e go ]; do sleep 0.05; done; echo 2");

        try (BufferedReader lines =
                ProcessFixture.reader(fixture.runtime.logs(fixture.key, "main", ProcessFixture.FOLLOW))) {
            assertThat(lines.readLine()).isEqualTo("1");
            Files.createFile(fixture.instance(0).resolve("root/go"));
            assertThat(lines.readLine()).isEqualTo("2");
            assertThat(lines.readLine()).isNull();
        }
        assertThat(fixture.isRunning()).isFalse();
    }

    @Test
    void logs_followAfterTail_continuesWithNewLines() throws IOException, InterruptedException {
        fixture.runUntilReady("echo 1; echo ready; while [ ! -e go ]; do sleep 0.05; done; echo 3");
        LogOptions options = new LogOptions(true, false, false, OptionalLong.of(1), Optional.empty());

        try (InputStream logs = fixture.runtime.logs(fixture.key, "main", options)) {
            Files.createFile(fixture.instance(0).resolve("root/go"));
            assertThat(new String(logs.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("ready\n3\n");
        }
    }

    @Test
    void logs_closedWhileAReadBlocks_readEnds()
            throws IOException, InterruptedException, ExecutionException, TimeoutException {
        fixture.run("sleep 300");
        InputStream logs = fixture.runtime.logs(fixture.key, "main", ProcessFixture.FOLLOW);
        CompletableFuture<Integer> read = new CompletableFuture<>();
        NewThread.EACH.execute(() -> {
            try {
                read.complete(logs.read());
            } catch (IOException e) {
                read.completeExceptionally(e);
            }
        });
        assertThat(fixture.timekeeper.await(read, Duration.ofMillis(150))).isFalse();

        logs.close();

        assertThat(read.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(-1);
        assertThat(logs.read()).isEqualTo(-1);
    }

    @Test
    void manyLines_onlyTheNewestTwoFilesAreKept() throws IOException, InterruptedException {
        fixture.restarted(
                ProcessRuntime.builder(fixture.directory, fixture.timekeeper).outputLimit(1000));

        fixture.runToEnd("i=0; while [ $i -lt 500 ]; do i=$((i + 1)); echo line-$i; done");

        assertThat(outputFiles())
                .hasSize(2)
                .allSatisfy(file -> assertThat(file.toFile()).size().isLessThan(1100));
        List<String> lines = fixture.logs().lines().toList();
        assertThat(lines).hasSizeGreaterThan(40).hasSizeLessThan(100);
        assertThat(lines)
                .containsExactlyElementsOf(IntStream.rangeClosed(501 - lines.size(), 500)
                        .mapToObj(i -> "line-" + i)
                        .toList());
        assertThat(fixture.logs(tail(30)).lines().toList())
                .containsExactlyElementsOf(lines.subList(lines.size() - 30, lines.size()));
    }

    /** As on a disk without room for another file. */
    @Test
    void nextFileCannotBeCreated_containerGoesOn_andSoDoesItsLogAfterwards() throws IOException, InterruptedException {
        fixture.restarted(
                ProcessRuntime.builder(fixture.directory, fixture.timekeeper).outputLimit(100));
        String lines = "i=0; while [ $i -lt 50 ]; do i=$((i + 1)); echo line-$i; done; ";

        int code = fixture.runToEnd("mkdir \"$PODCACHE_ROOT/../output.1\"; " + lines
                        + "while [ ! -e \"$PODCACHE_ROOT/../output.0\" ]; do sleep 0.02; done; "
                        + "rmdir \"$PODCACHE_ROOT/../output.1\"; echo after; exit 3")
                .getExitCode();

        assertThat(code).isEqualTo(3);
        assertThat(fixture.logs()).endsWith("after\n");
        assertThat(outputFiles()).hasSizeLessThanOrEqualTo(2);
    }

    @Test
    void manyLines_followerSeesAllOfThemInOrder() throws IOException, InterruptedException {
        fixture.restarted(
                ProcessRuntime.builder(fixture.directory, fixture.timekeeper).outputLimit(2000));
        // waits for the reader after each 50 lines, about one file
        fixture.run("i=0; while [ $i -lt 400 ]; do i=$((i + 1)); echo line-$i;"
                + " [ $((i % 50)) -ne 0 ] || while [ ! -e read-$i ]; do sleep 0.02; done; done");

        int count = 0;
        try (BufferedReader lines =
                ProcessFixture.reader(fixture.runtime.logs(fixture.key, "main", ProcessFixture.FOLLOW))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                count++;
                assertThat(line).isEqualTo("line-" + count);
                if (count % 50 == 0) {
                    Files.createFile(fixture.instance(0).resolve("root/read-" + count));
                }
            }
        }

        assertThat(count).isEqualTo(400);
    }

    @Test
    void builder_outputLimitOfZero_isRefused() {
        assertThatThrownBy(() -> ProcessRuntime.builder(fixture.directory, fixture.timekeeper)
                        .outputLimit(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("outputLimit must be positive, but is 0");
    }
}
