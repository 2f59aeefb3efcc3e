package dev.podcache.apiserver.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineDecoderTest {

    private final LineDecoder decoder = new LineDecoder(1000);
    private final List<String> lines = new ArrayList<>();

    @Test
    void accept_severalLinesInOneChunk_passesEach() {
        accept("one\ntwo\nthree\n");

        assertThat(lines).containsExactly("one", "two", "three");
        assertThat(decoder.insideLine()).isFalse();
    }

    @Test
    void accept_emptyLines_skipsThem() {
        accept("\n\none\n\r\n\ntwo\n");

        assertThat(lines).containsExactly("one", "two");
    }

    @Test
    void accept_carriageReturns_dropsThem() {
        accept("one\r");
        accept("\ntwo\r\n");

        assertThat(lines).containsExactly("one", "two");
    }

    @Test
    void insideLine_unfinishedLine_isTrue() {
        accept("one\ntw");

        assertThat(lines).containsExactly("one");
        assertThat(decoder.insideLine()).isTrue();
    }

    @Test
    void accept_longestLine_isPassed() {
        assertThat(accept("x".repeat(600))).isTrue();
        assertThat(accept("x".repeat(400) + "\n")).isTrue();

        assertThat(lines).containsExactly("x".repeat(1000));
    }

    @Test
    void accept_longestLineBeforeItsEnd_isKept() {
        assertThat(accept("x".repeat(1000))).isTrue();
        assertThat(accept("\n")).isTrue();

        assertThat(lines).containsExactly("x".repeat(1000));
    }

    @Test
    void accept_longerLineAcrossChunks_isRefused() {
        assertThat(accept("x".repeat(600))).isTrue();
        assertThat(accept("x".repeat(401) + "\n")).isFalse();
        assertThat(lines).isEmpty();
    }

    @Test
    void accept_longerLineWithoutEnd_isRefusedBeforeItIsKept() {
        assertThat(accept("x".repeat(1001))).isFalse();
    }

    @Test
    void accept_longerLineInOneChunk_isRefusedAfterTheLinesBeforeIt() {
        assertThat(accept("one\n" + "x".repeat(1001) + "\n")).isFalse();
        assertThat(lines).containsExactly("one");
    }

    @Test
    void accept_lineOfMegabytesInSmallChunks_isPassedWhole() {
        LineDecoder large = new LineDecoder(16 << 20);
        byte[] chunk = "x".repeat(8192).getBytes(UTF_8);
        for (int i = 0; i < 1024; i++) {
            assertThat(large.accept(chunk, this::keep)).isTrue();
        }
        large.accept("\n".getBytes(UTF_8), this::keep);

        assertThat(lines).singleElement().satisfies(line -> assertThat(line).hasSize(8 << 20));
    }

    private boolean accept(String chunk) {
        return decoder.accept(chunk.getBytes(UTF_8), this::keep);
    }

    private void keep(byte[] bytes, int offset, int length) {
        lines.add(new String(bytes, offset, length, UTF_8));
    }
}
