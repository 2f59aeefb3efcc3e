package dev.podcache.apiserver.fabric8;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.time.Duration;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What each line of a watch means. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class WatchEventDecodingTest extends Fabric8WatchFixture {

    private static final String OBJECT = "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\","
            + "\"resourceVersion\":\"7\"},\"data\":{\"日本語\":\"🎉\"},\"more\":[1,{}]}";

    @ParameterizedTest
    @ValueSource(strings = {"ADDED", "MODIFIED"})
    void addedOrModified_isUpserted(String type) throws InterruptedException {
        WatchEvent<ConfigMap> event = decode("{\"type\":\"" + type + "\",\"object\":" + OBJECT + "}");

        assertThat(event).isInstanceOf(WatchEvent.Upserted.class);
        requireObject(((WatchEvent.Upserted<ConfigMap>) event).fetched());
    }

    @Test
    void deleted_isDeletedWithItsLastState() throws InterruptedException {
        WatchEvent<ConfigMap> event = decode("{\"type\":\"DELETED\",\"object\":" + OBJECT + "}");

        assertThat(event).isInstanceOf(WatchEvent.Deleted.class);
        requireObject(((WatchEvent.Deleted<ConfigMap>) event).last());
    }

    @Test
    void objectBeforeType_isTheSame() throws InterruptedException {
        WatchEvent<ConfigMap> event =
                decode(" { \"é\" : [] , \"object\" : " + OBJECT + " , \"more\": [{}], \"type\" : \"ADDED\" } ");

        assertThat(event).isInstanceOf(WatchEvent.Upserted.class);
        requireObject(((WatchEvent.Upserted<ConfigMap>) event).fetched());
    }

    private static void requireObject(Fetched<ConfigMap> fetched) {
        assertThat(fetched.resourceVersion()).isEqualTo("7");
        assertThat(fetched.encodedBytes()).isEqualTo(OBJECT.getBytes(UTF_8).length);
        assertThat(fetched.object().getData()).containsEntry("日本語", "🎉");
    }

    @ParameterizedTest
    @CsvSource({"'', false", "',\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}', true"})
    void bookmark_hasTheVersionAndWhetherItEndsAList(String annotations, boolean endsList) throws InterruptedException {
        assertThat(decode("{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\",\"metadata\":"
                        + "{\"resourceVersion\":\"12\"" + annotations + "}}}"))
                .isEqualTo(new WatchEvent.Bookmark<>("12", endsList));
    }

    @ParameterizedTest
    @CsvSource({"410, EXPIRED", "500, UNAVAILABLE", "429, THROTTLED", "403, FORBIDDEN"})
    void error_isTheEndWithItsReason(int code, FailureReason reason) throws InterruptedException {
        ApiServerException failure = ended(decode("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":" + code
                + ",\"message\":\"too old\",\"details\":{\"retryAfterSeconds\":3}}}"));

        assertThat(failure.reason()).isEqualTo(reason);
        assertThat(failure.httpCode()).isEqualTo(code);
        assertThat(failure.retryAfter()).isEqualTo(Duration.ofSeconds(3));
        assertThat(failure).hasMessage("WATCH configmaps in shop was answered " + code + ": too old");
    }

    @Test
    void errorWithoutACode_isAFailureToRepeat() throws InterruptedException {
        assertThat(ended(decode("{\"type\":\"ERROR\",\"object\":{}}")).reason()).isEqualTo(FailureReason.UNAVAILABLE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"ADDED\",\"object\":{\"password\":\"canary\"",
                "{\"type\":\"SURPRISE\",\"object\":{\"password\":\"canary\"}}",
                "{\"object\":{\"password\":\"canary\"}}",
                "{\"type\":null,\"object\":{\"password\":\"canary\"}}",
                "canary",
                "[\"canary\"]",
                "null",
                "{}",
                "{\"type\":\"BOOKMARK\",\"object\":{\"canary\":1}}",
                "{\"type\":\"BOOKMARK\"}"
            })
    void whatIsNoEvent_isTheEndAndQuotesNothing(String line) throws InterruptedException {
        ApiServerException failure = ended(decode(line));

        assertThat(failure.reason()).isEqualTo(FailureReason.UNREADABLE);
        assertThat(failure)
                .hasMessageStartingWith("WATCH configmaps in shop: an event")
                .hasNoCause();
        assertThat(failure.getMessage()).doesNotContain("canary");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"DELETED\",\"object\":" + OBJECT + "}",
                " {\"type\":\"DELETED\",\"object\":" + OBJECT + "}",
                " null",
                "}",
                "canary"
            })
    void somethingAfterTheEvent_isTheEndAndQuotesNothing(String more) throws InterruptedException {
        ApiServerException failure = ended(decode("{\"type\":\"ADDED\",\"object\":" + OBJECT + "}" + more));

        assertThat(failure.reason()).isEqualTo(FailureReason.UNREADABLE);
        assertThat(failure).hasMessageEndingWith("is not valid JSON").hasNoCause();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"data\":\"canary\"}",
                "{\"kind\":\"ConfigMap\",\"metadata\":[\"canary\"]}",
                "{\"kind\":\"canary\",\"metadata\":{\"name\":\"a\"}}",
                "{\"kind\":\"ConfigMap\",\"metadata\":{\"canary\":1}}"
            })
    void objectThatCannotBeDecoded_isTheEndAndQuotesNothing(String object) throws InterruptedException {
        ApiServerException failure = ended(decode("{\"type\":\"ADDED\",\"object\":" + object + "}"));

        assertThat(failure.reason()).isEqualTo(FailureReason.UNREADABLE);
        assertThat(failure).hasNoCause();
        assertThat(failure.getMessage()).doesNotContain("canary");
    }

    private WatchEvent<ConfigMap> decode(String line) throws InterruptedException {
        network.stream(line + "\n", 100_000);
        watch();
        assertThat(next()).isEqualTo(new WatchEvent.Opened<>());
        return next();
    }
}
