package dev.podcache.apiserver.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The cutting of the stream into chunks means nothing, not even inside a character. */
class LineDecoderProperties {

    @Property
    void accept_anyChunksOfAnyLines_passesTheSameLines(
            @ForAll("lines") List<String> lines, @ForAll("sizes") List<Integer> sizes) {
        byte[] stream = (String.join("\n", lines) + "\n").getBytes(UTF_8);
        LineDecoder decoder = new LineDecoder(stream.length);
        List<String> passed = new ArrayList<>();

        int at = 0;
        for (int i = 0; at < stream.length; i++) {
            int end = Math.min(stream.length, at + sizes.get(i % sizes.size()));
            assertThat(decoder.accept(
                            Arrays.copyOfRange(stream, at, end),
                            (bytes, offset, length) -> passed.add(new String(bytes, offset, length, UTF_8))))
                    .isTrue();
            at = end;
        }

        assertThat(passed)
                .isEqualTo(lines.stream().filter(line -> !line.isEmpty()).toList());
        assertThat(decoder.insideLine()).isFalse();
    }

    @Provide
    Arbitrary<List<String>> lines() {
        Arbitrary<String> line = Arbitraries.strings()
                .withChars('a', '{', 'é', '日', '語')
                .withChars("🎉".toCharArray())
                .ofMaxLength(40)
                .map(text -> new String(text.getBytes(UTF_8), UTF_8));
        return line.list().ofMinSize(1).ofMaxSize(20);
    }

    @Provide
    Arbitrary<List<Integer>> sizes() {
        return Arbitraries.integers().between(1, 30).list().ofMinSize(1).ofMaxSize(10);
    }
}
