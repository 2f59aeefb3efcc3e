package dev.podcache.kubelet.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class ByteTextProperties {

    @Property
    void bytes_anyBytes_comeBack(@ForAll byte[] bytes) {
        assertThat(ByteText.bytes(ByteText.of(bytes))).isEqualTo(bytes);
    }

    @Property
    void of_text_isTheText(@ForAll String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);

        assertThat(ByteText.of(utf8)).isEqualTo(new String(utf8, StandardCharsets.UTF_8));
        assertThat(ByteText.bytes(new String(utf8, StandardCharsets.UTF_8))).isEqualTo(utf8);
    }

    @Property
    void bytes_twoTexts_areJoined(@ForAll byte[] one, @ForAll byte[] other) {
        byte[] joined = new byte[one.length + other.length];
        System.arraycopy(one, 0, joined, 0, one.length);
        System.arraycopy(other, 0, joined, one.length, other.length);

        assertThat(ByteText.bytes(ByteText.of(one) + ByteText.of(other))).isEqualTo(joined);
    }

    @Example
    void of_surrogatesInBytes_comeBack() {
        byte[] encoded = {(byte) 0xED, (byte) 0xB2, (byte) 0x80, (byte) 0xF0, (byte) 0x9F, (byte) 0x98, (byte) 0x80};

        assertThat(ByteText.bytes(ByteText.of(encoded))).isEqualTo(encoded);
        assertThat(ByteText.of(encoded)).endsWith("\uD83D\uDE00");
    }
}
