package dev.podcache.apiserver.fabric8;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Objects that nobody refers to are told by their names, and never decoded. */
class SelectiveDecoderTest {

    private static final String ITEM =
            "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"shop\",\"resourceVersion\":\"%d\"},\"data\":{\"k\":\"dg==\"}}";

    private final AtomicInteger decoded = new AtomicInteger();
    private final Fabric8ObjectDecoder<Secret> secrets =
            new Fabric8ObjectDecoder<>(ObjectKind.SECRET, new KubernetesSerialization());
    private final SelectiveDecoder<Secret> decoder = new SelectiveDecoder<>(this::decode, Set.of("db")::contains);

    private Fetched<Secret> decode(byte[] json, int offset, int length) {
        decoded.incrementAndGet();
        return secrets.decode(json, offset, length);
    }

    @Test
    void page_inWhichOneObjectIsReferenced_decodesThatOne() {
        String items = IntStream.range(0, 500)
                .mapToObj(i -> ITEM.formatted(i == 250 ? "db" : "other-" + i, i))
                .collect(Collectors.joining(","));
        String page = "{\"kind\":\"SecretList\",\"metadata\":{\"resourceVersion\":\"900\",\"continue\":\"next\"},"
                + "\"items\":[" + items + "]}";

        Listed<Secret> listed = new Fabric8ListDecoder<>(ObjectKind.SECRET, decoder)
                .decode(page.getBytes(UTF_8))
                .listed();

        assertThat(listed.items()).singleElement().satisfies(item -> {
            assertThat(item.object().getMetadata().getName()).isEqualTo("db");
            assertThat(item.resourceVersion()).isEqualTo("250");
        });
        assertThat(listed.resourceVersion()).isEqualTo("900");
        assertThat(decoded).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'kind':'Secret','metadata':{'name':'other','resourceVersion':'7'},'data':{'k':'dg=='}}",
                "{'data':{'metadata':'db','name':'db'},'metadata':{'resourceVersion':'7','name':'other'}}",
                "{'x':[{'metadata':{'name':'db'}}],'metadata':{'labels':{'name':'db'},'name':'other','resourceVersion':'7'}}",
            })
    void anotherObject_isSkippedWithItsVersion(String json) {
        assertThat(skipped(json)).isEqualTo("7");
        assertThat(decoded).hasValue(0);
    }

    @Test
    void anotherObject_withoutVersion_isSkipped() {
        assertThat(skipped("{'metadata':{'name':'other'}}")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'metadata':{'name':'db','resourceVersion':'7'}}",
                "{'metadata':{'resourceVersion':'7'}}",
                "{'metadata':{'name':null}}",
                "{'metadata':null}",
                "{'metadata':{'name':'other'",
                "{}",
                "[]",
                "",
            })
    void referencedOrUnreadableObject_isLeftToTheDecoder(String json) {
        assertThat(skipped(json)).isNull();
    }

    @ParameterizedTest
    @CsvSource({"3, 2", "0, 0"})
    void partOfALargerArray_isAllThatIsRead(int before, int after) {
        String json = "{\"metadata\":{\"name\":\"other\",\"resourceVersion\":\"7\"}}";
        byte[] bytes = ("}".repeat(before) + json + "{".repeat(after)).getBytes(UTF_8);

        assertThat(decoder.skippedVersion(bytes, before, json.length())).isEqualTo("7");
    }

    @Test
    void unreadableObject_isReportedByTheDecoder() {
        byte[] json = "{\"kind\":\"Secret\",\"metadata\":{}}".getBytes(UTF_8);

        assertThatThrownBy(() -> decoder.decode(json, 0, json.length)).isInstanceOf(ApiServerException.class);
    }

    private @Nullable String skipped(String json) {
        byte[] bytes = json.replace('\'', '"').getBytes(UTF_8);
        return decoder.skippedVersion(bytes, 0, bytes.length);
    }
}
