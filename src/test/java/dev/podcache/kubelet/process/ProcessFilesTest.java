package dev.podcache.kubelet.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The formats of files: of the kernel, and of the script. */
class ProcessFilesTest {

    private static final Instant TIME = Instant.parse("2026-01-02T03:04:05.670Z");

    @TempDir
    Path directory;

    @Test
    void stat_nameWithBlanksAndParentheses_doesNotShiftTheFields() {
        String line = "42 (a) b (c) S 41 42 40 0 -1 4194304 99 0 0 0 1 2 3 4 20 0 1 0 148802 2654208 395";

        assertThat(ProcessStat.parse(line)).contains(new ProcessStat(42, "S", 40, 10, 148802));
    }

    @Test
    void stat_incompleteLine_isNone() {
        assertThat(ProcessStat.parse("")).isEmpty();
        assertThat(ProcessStat.parse("42 (sh")).isEmpty();
        assertThat(ProcessStat.parse("42 (sh) S 41 42")).isEmpty();
    }

    @Test
    void stat_zombie_hasEnded() {
        assertThat(new ProcessStat(1, "Z", 1, 0, 0).hasEnded()).isTrue();
        assertThat(new ProcessStat(1, "S", 1, 0, 0).hasEnded()).isFalse();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void identity_otherStartTime_isNotAlive() {
        ProcessIdentity self = ProcessIdentity.of(ProcessHandle.current().pid()).orElseThrow();

        assertThat(self.isAlive()).isTrue();
        assertThat(new ProcessIdentity(self.pid(), self.startTicks() + 1).isAlive())
                .isFalse();
        assertThat(new ProcessIdentity(self.pid(), self.startTicks() + 1).onExit())
                .isCompleted();
    }

    @Test
    void outputLine_parsedAndShown() {
        OutputLine line = OutputLine.parse("176732304567 some text ".getBytes(StandardCharsets.US_ASCII))
                .orElseThrow();

        assertThat(line.time()).isEqualTo(TIME);
        assertThat(new String(line.shown(false), StandardCharsets.US_ASCII)).isEqualTo("some text \n");
        assertThat(new String(line.shown(true), StandardCharsets.US_ASCII))
                .isEqualTo("2026-01-02T03:04:05.670000000Z some text \n");
        assertThat(OutputLine.hundredths(TIME)).isEqualTo(176732304567L);
    }

    @Test
    void outputLine_withoutTime_isNone() {
        for (String damaged : new String[] {"", " ", "text", "123", "123text"}) {
            assertThat(OutputLine.parse(damaged.getBytes(StandardCharsets.US_ASCII)))
                    .as(damaged)
                    .isEmpty();
        }
    }

    @Test
    void end_ofTheScript_isRead() throws IOException {
        Files.writeString(directory.resolve("exit"), "3 176732304567\n");

        assertThat(ContainerEnd.read(directory)).contains(new ContainerEnd(3, TIME, true));
    }

    @Test
    void unknownEnd_isRecordedOnceAndForEver() throws IOException {
        ContainerEnd first = ContainerEnd.unknown(directory, TIME);

        assertThat(first).isEqualTo(new ContainerEnd(137, TIME, false));
        assertThat(ContainerEnd.unknown(directory, TIME.plusSeconds(9))).isEqualTo(first);
        assertThat(ContainerEnd.read(directory)).contains(first);
        assertThat(directory).isDirectoryNotContaining(file -> file.toString().endsWith(".new"));
    }

    @Test
    void unknownEnd_recordedEndWins() throws IOException {
        Files.writeString(directory.resolve("exit"), "3 176732304567\n");

        assertThat(ContainerEnd.unknown(directory, TIME.plusSeconds(9))).isEqualTo(new ContainerEnd(3, TIME, true));
    }
}
