package dev.podcache.kubelet.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The formats of files: of the kernel, and of the script. */
class ProcessFilesTest {

    private static final Instant TIME = Instant.parse("2026-01-02T03:04:05.670Z");

    /** The name has the end of a line of another system in it. */
    private static final String WHOLES = "Name:\ta\rVmRSS: 999\nVmRSS:\t   90 kB\nRssAnon:\t   70 kB\n";

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
    void memory_partsAreShown_countsThem() {
        String parts = "55d0-7fff ---p 00000000 00:00 0    [rollup]\nRss:  90 kB\nPss:  20 kB\nPss_Anon:  8 kB\n";

        assertThat(ProcessMemory.parse(parts, WHOLES)).isEqualTo(new ProcessMemory(20 << 10, 8 << 10));
        assertThat(ProcessMemory.parse(parts.replace("Pss_Anon", "Other"), WHOLES))
                .as("before Linux 5.9")
                .isEqualTo(new ProcessMemory(20 << 10, 20 << 10));
    }

    @Test
    void memory_partsAreNotShown_countsAll() {
        for (String parts : List.of("", "Pss:  0 kB\nPss_Anon:  0 kB\n")) {
            assertThat(ProcessMemory.parse(parts, WHOLES)).isEqualTo(new ProcessMemory(90 << 10, 70 << 10));
        }
        assertThat(ProcessMemory.parse("", "")).isEqualTo(new ProcessMemory(0, 0));
        assertThat(ProcessMemory.of(List.of(-1L, -2L))).isEqualTo(new ProcessMemory(0, 0));
    }

    /** Such as a database of many processes with one cache. */
    @Test
    void memory_isTooMuchToBeTakenApart_countsWhatIsSharedOnce() {
        assertThat(ProcessMemory.together(List.of(new ProcessMemory(90, 10), new ProcessMemory(85, 15))))
                .isEqualTo(new ProcessMemory(105, 25));
        assertThat(ProcessMemory.together(List.of(new ProcessMemory(90, 10)))).isEqualTo(new ProcessMemory(90, 10));
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

    private String lines(boolean withTime) throws IOException {
        StringBuilder lines = new StringBuilder();
        try (OutputFiles files = new OutputFiles(directory)) {
            for (Optional<OutputLine> next = files.next(); next.isPresent(); next = files.next()) {
                assertThat(next.get().text().length).isLessThanOrEqualTo(OutputFiles.LONGEST_PIECE);
                lines.append(new String(next.get().shown(withTime), StandardCharsets.US_ASCII));
            }
        }
        return lines.toString();
    }

    @Test
    void output_readAndShown() throws IOException {
        Files.writeString(directory.resolve("output.0"), "176732304567 some text \n176732304567 \n");

        assertThat(lines(false)).isEqualTo("some text \n\n");
        assertThat(lines(true))
                .isEqualTo("2026-01-02T03:04:05.670000000Z some text \n2026-01-02T03:04:05.670000000Z \n");
        assertThat(OutputLine.hundredths(TIME)).isEqualTo(176732304567L);
    }

    @Test
    void output_damagedLines_areLeftOut() throws IOException {
        Path file = directory.resolve("output.3");
        Files.write(file, List.of("", " ", "text", "123", "123text", "12++ x", "1234567890123456789 x", "+ x"));
        Files.writeString(file, "176732304567 kept\n12", StandardOpenOption.APPEND);

        assertThat(lines(false)).isEqualTo("kept\n");
    }

    @Test
    void output_cutLines_areJoinedAlsoAcrossFiles() throws IOException {
        String long1 = "a".repeat(40_000);
        Files.writeString(directory.resolve("output.7"), "100+ " + long1 + "\n101 b\n102+ c\n");
        Files.writeString(directory.resolve("output.8"), "103+ d\n104 e\n105 f\n106+ g\n");
        Files.writeString(directory.resolve("output.10"), "107 h\n108 half");
        Files.writeString(directory.resolve("output.11"), "109 i\n");

        assertThat(lines(false)).isEqualTo(long1 + "b\ncde\nf\ng\nh\nhalf\ni\n");
        assertThat(lines(true))
                .startsWith("1970-01-01T00:00:01.000000000Z aa")
                .contains("ab\n1970-01-01T00:00:01.020000000Z cde\n");
    }

    /** A line may be read while it is written. */
    @Test
    void output_whileItGrowsByOneByte_isTheSame() throws IOException {
        String all = "100 one\n101+ two\n102 three\nbad\n103 four\n";
        Path file = Files.createFile(directory.resolve("output.0"));
        StringBuilder lines = new StringBuilder();
        try (OutputFiles files = new OutputFiles(directory)) {
            for (int i = 0; i < all.length(); i++) {
                Files.writeString(file, all.substring(i, i + 1), StandardOpenOption.APPEND);
                for (Optional<OutputLine> next = files.next(); next.isPresent(); next = files.next()) {
                    lines.append(new String(next.get().shown(false), StandardCharsets.US_ASCII));
                }
            }
        }
        assertThat(lines.toString()).isEqualTo("one\ntwothree\nfour\n");
    }

    @Test
    void end_ofTheScript_isRead() throws IOException {
        Files.writeString(directory.resolve("exit"), "3 176732304567\n");

        assertThat(ContainerEnd.read(directory)).contains(new ContainerEnd(3, TIME, true));
    }

    /** As the script writes it on a full disk. */
    @Test
    void end_inTheTargetOfALink_isRead() throws IOException {
        Files.createSymbolicLink(directory.resolve("exit"), Path.of("3 176732304567"));

        assertThat(ContainerEnd.read(directory)).contains(new ContainerEnd(3, TIME, true));
        assertThat(ContainerEnd.unknown(directory, TIME.plusSeconds(9))).isEqualTo(new ContainerEnd(3, TIME, true));
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
