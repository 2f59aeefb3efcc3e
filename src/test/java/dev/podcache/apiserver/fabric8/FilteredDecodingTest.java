package dev.podcache.apiserver.fabric8;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Objects of a namespace that nobody refers to are told by their names, and never decoded. The data of the others is not
 * decodable, so that decoding one would fail.
 */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class FilteredDecodingTest extends Fabric8WatchFixture {

    private static final String ITEM =
            "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"shop\",\"resourceVersion\":\"%d\"},\"data\":%s}";
    private static final String UNDECODABLE = "[\"no map\"]";

    @Test
    void page_inWhichOneObjectIsReferenced_decodesThatOne() {
        String items = IntStream.range(0, 500)
                .mapToObj(i -> i == 250
                        ? ITEM.formatted("db", i, "{\"k\":\"v\"}")
                        : ITEM.formatted("other-" + i, i, UNDECODABLE))
                .collect(Collectors.joining(","));
        network.answer(
                "200 OK",
                "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"900\"},\"items\":[" + items + "]}");

        Listed<ConfigMap> listed =
                referenced().list(Duration.ofSeconds(Patience.SECONDS)).join();

        assertThat(listed.items()).singleElement().satisfies(item -> {
            assertThat(item.object().getMetadata().getName()).isEqualTo("db");
            assertThat(item.resourceVersion()).isEqualTo("250");
        });
        assertThat(listed.resourceVersion()).isEqualTo("900");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ADDED    | {'kind':'ConfigMap','metadata':{'name':'other','resourceVersion':'7'},'data':['no map']} | 7",
                "MODIFIED | {'kind':'ConfigMap','metadata':{'name':'other','resourceVersion':'7'},'data':['no map']} | 7",
                "DELETED  | {'kind':'ConfigMap','metadata':{'name':'other','resourceVersion':'7'},'data':['no map']} | 7",
                "ADDED    | {'data':{'metadata':'db','name':'db'},'metadata':{'resourceVersion':'7','name':'other'}} | 7",
                "ADDED    | {'x':[{'metadata':{'name':'db'}}],'metadata':{'labels':{'name':'db'},'name':'other','resourceVersion':'7'}} | 7",
                "ADDED    | {'metadata':{'name':'other'}} | ''"
            })
    void anotherObject_isSkippedWithItsVersion(String type, String object, String version) throws InterruptedException {
        assertThat(decode(type, object)).isEqualTo(new WatchEvent.Undecoded<>(version));
    }

    @Test
    void referencedObject_isDecoded() throws InterruptedException {
        WatchEvent<ConfigMap> event =
                decode("ADDED", "{'kind':'ConfigMap','metadata':{'name':'db','resourceVersion':'7'}}");

        assertThat(event).isInstanceOf(WatchEvent.Upserted.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'metadata':{'resourceVersion':'7'}}",
                "{'metadata':{'name':null}}",
                "{'metadata':null}",
                "{'metadata':{'name':'other'",
                "{}",
                "[]"
            })
    void objectWithoutAName_isUnreadable(String object) throws InterruptedException {
        assertThat(ended(decode("ADDED", object)).reason()).isEqualTo(FailureReason.UNREADABLE);
    }

    /** What is read of each is only its own part of what has been received. */
    @Test
    void severalEventsReceivedTogether_eachIsToldByItself() throws InterruptedException {
        String skipped = "{\"type\":\"ADDED\",\"object\":" + ITEM.formatted("other", 7, UNDECODABLE) + "}\n";
        network.stream(skipped + event("ADDED", "db").replace("\"name\":\"a\"", "\"name\":\"db\"") + skipped, 10_000);

        referenced().watch("1", HOUR, events::add);

        assertThat(next()).isEqualTo(new WatchEvent.Opened<>());
        assertThat(next()).isEqualTo(new WatchEvent.Undecoded<>("7"));
        assertThat(text(next())).isEqualTo("db");
        assertThat(next()).isEqualTo(new WatchEvent.Undecoded<>("7"));
    }

    private ListerWatcher<ConfigMap> referenced() {
        return server.inNamespace(ObjectKind.CONFIG_MAP).apply("shop", Set.of("db")::contains);
    }

    private WatchEvent<ConfigMap> decode(String type, String object) throws InterruptedException {
        byte[] line = ("{'type':'" + type + "','object':" + object + "}\n").getBytes(UTF_8);
        network.stream(new String(line, UTF_8).replace('\'', '"'), 10_000);
        referenced().watch("1", HOUR, events::add);
        assertThat(next()).isEqualTo(new WatchEvent.Opened<>());
        return next();
    }
}
