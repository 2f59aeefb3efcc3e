package dev.podcache.apiserver.fabric8;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.HostileJson;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.Base64;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Whatever the bytes: the object that was asked for, or {@code UNREADABLE} without a word of what was in it. Without a
 * server, because there are many thousand answers.
 */
class DecoderProperties {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final String ENCODED_CANARY = Base64.getEncoder().encodeToString(NoLeaks.CANARY.getBytes(UTF_8));

    private static final byte[] OBJECT = object();
    private static final byte[] LIST =
            ("{\"kind\":\"SecretList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\"}," + "\"items\":["
                            + new String(OBJECT, UTF_8) + "]}")
                    .getBytes(UTF_8);

    private final Fabric8ObjectDecoder<Secret> objects =
            new Fabric8ObjectDecoder<>(ObjectKind.SECRET, Fabric8ApiServer.serialization());
    private final Fabric8ListDecoder<Secret> lists = new Fabric8ListDecoder<>(ObjectKind.SECRET, objects);

    @Property
    void decodeNamed_mutatedObject_isThatObjectOrUnreadable(@ForAll long seed) {
        decodeObject(HostileJson.mutated(OBJECT, seed));
    }

    @Property
    void decode_mutatedList_isAListOrUnreadable(@ForAll long seed) {
        decodeList(HostileJson.mutated(LIST, seed));
    }

    @Property
    void decode_noise_isUnreadable(@ForAll byte[] noise) {
        decodeObject(noise);
        decodeList(noise);
    }

    @Example
    void decode_eachValueReplaced_isDecodedOrUnreadable() {
        for (String value : HostileJson.VALUES) {
            HostileJson.withEachValueReplaced(OBJECT, value).forEach(this::decodeObject);
            HostileJson.withEachValueReplaced(LIST, value).forEach(this::decodeList);
        }
    }

    /** A parser's own messages quote values of a wrong type, and words that are none. */
    @Example
    void decode_secretInAnyPlace_isNeverQuoted() {
        for (String form : new String[] {"\"%s\"", "[\"%s\"]", "{\"%s\":\"%s\"}", "%s", "\"%s", "{\"a\":%s"}) {
            String value = form.replace("%s", NoLeaks.CANARY);
            HostileJson.withEachValueReplaced(OBJECT, value).forEach(this::decodeObject);
            HostileJson.withEachValueReplaced(LIST, value).forEach(this::decodeList);
        }
    }

    @Example
    void decode_cutAnywhere_isUnreadable() {
        for (byte[] cut : HostileJson.truncations(OBJECT)) {
            assertThat(decodeObject(cut)).as(new String(cut, UTF_8)).isFalse();
        }
        for (byte[] cut : HostileJson.truncations(LIST)) {
            assertThat(decodeList(cut)).as(new String(cut, UTF_8)).isFalse();
        }
    }

    private boolean decodeObject(byte[] json) {
        try {
            Fetched<Secret> fetched = objects.decodeNamed(DB, json);
            assertThat(fetched.object().getMetadata().getName()).isEqualTo("db");
            assertThat(fetched.encodedBytes()).isEqualTo(json.length);
            return true;
        } catch (ApiServerException e) {
            requireUnreadable(e);
            return false;
        }
    }

    private boolean decodeList(byte[] json) {
        try {
            Listed<Secret> listed = lists.decode(json).listed();
            assertThat(listed.resourceVersion()).isNotEmpty();
            assertThat(listed.items())
                    .allSatisfy(item ->
                            assertThat(item.object().getMetadata().getName()).isNotEmpty());
            return true;
        } catch (ApiServerException e) {
            requireUnreadable(e);
            return false;
        }
    }

    private static void requireUnreadable(ApiServerException e) {
        assertThat(e.reason()).isEqualTo(FailureReason.UNREADABLE);
        assertThat(e).hasNoCause();
        assertThat(e.getMessage())
                .hasSizeLessThan(200)
                .doesNotContain(NoLeaks.CANARY)
                .doesNotContain(ENCODED_CANARY);
    }

    private static byte[] object() {
        Secret secret = Secrets.of(DB, "v1");
        secret.getMetadata().setResourceVersion("7");
        secret.getMetadata().setGeneration(3L);
        return Serialization.asJson(secret).getBytes(UTF_8);
    }
}
