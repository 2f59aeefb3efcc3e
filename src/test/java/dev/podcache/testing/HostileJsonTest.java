package dev.podcache.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Test;

class HostileJsonTest {

    @Test
    void withEachValueReplaced_replacesOneAtATime() {
        assertThat(HostileJson.withEachValueReplaced("{\"a\":[1]}".getBytes(UTF_8), "x"))
                .extracting(json -> new String(json, UTF_8))
                .contains("{\"a\":[x]}", "{\"a\":x}", "x");
    }

    @Test
    void withEachValueReplaced_whatAParserTakesForUtf16_hasNoValues() {
        List<byte[]> utf16 = List.of(new byte[] {0, '[', 0, '1', 0, ']'}, new byte[] {'[', 0, '1', 0, ']', 0});

        assertThat(utf16)
                .map(json -> HostileJson.withEachValueReplaced(json, "x"))
                .allMatch(Collection::isEmpty);
    }
}
