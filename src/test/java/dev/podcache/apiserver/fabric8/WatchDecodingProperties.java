package dev.podcache.apiserver.fabric8;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.HostileJson;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AfterProperty;
import org.jspecify.annotations.Nullable;

/** Bytes of a watch, whatever they are and however they are cut into chunks: events, or the end with a cause. */
@Slow
class WatchDecodingProperties {

    private static final byte[] EVENTS = ("{\"type\":\"ADDED\",\"object\":{\"kind\":\"Secret\",\"metadata\":"
                    + "{\"name\":\"a\",\"resourceVersion\":\"7\"},\"data\":{\"k\":\"" + NoLeaks.CANARY + "\"}}}\n"
                    + "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"12\"}}}\n"
                    + "{\"type\":\"DELETED\",\"object\":{\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\"},"
                    + "\"data\":{\"k\":\"" + NoLeaks.CANARY + "\"}}}\n"
                    + "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\","
                    + "\"details\":{\"retryAfterSeconds\":3,\"causes\":[{\"field\":\"a\"}]}}}\n")
            .getBytes(UTF_8);

    private final ScriptedServer network = new ScriptedServer();
    private final Fabric8ApiServer server = Fabric8ApiServer.of(
            new ConfigBuilder(Config.empty()).withMasterUrl(network.url()).build(), RequestLimit.DEFAULT);
    private final ListerWatcher<Secret> secrets = server.listerWatcher(ObjectKind.SECRET, "shop", "metadata.name=a");

    @AfterProperty
    void tearDown() {
        server.close();
        network.close();
    }

    @Property
    void anyBytes_inAnyChunks_areEventsOrTheEnd(@ForAll long seed) {
        byte[] bytes = HostileJson.mutated(EVENTS, seed);

        // read twice, because chunks must not matter
        assertThat(read(bytes, new Random(seed))).isEqualTo(read(bytes, null));
    }

    @Property
    void noise_inAnyChunks_isTheEnd(@ForAll byte[] noise, @ForAll long seed) {
        assertThat(read(noise, new Random(seed))).isEqualTo(read(noise, null));
    }

    @Example
    void eachValueReplaced_isAnEventOrTheEnd() {
        for (String line : new String(EVENTS, UTF_8).lines().toList()) {
            for (String value : HostileJson.VALUES) {
                HostileJson.withEachValueReplaced((line + "\n").getBytes(UTF_8), value)
                        .forEach(replaced -> assertThat(read(replaced, null)).isNotEmpty());
            }
        }
    }

    /** Returns what comes of the bytes until the watch has ended, as text. */
    private List<String> read(byte[] bytes, @Nullable Random cutting) {
        network.onRequest(connection -> {
            connection.write(ScriptedServer.CHUNKED);
            for (int at = 0; at < bytes.length; ) {
                int length = Math.min(bytes.length - at, cutting == null ? bytes.length : 1 + cutting.nextInt(60));
                connection.chunk(bytes, at, length);
                at += length;
            }
            connection.write("0\r\n\r\n");
        });
        List<String> seen = new ArrayList<>();
        AtomicReference<@Nullable ApiServerException> endOf = new AtomicReference<>();
        CompletableFuture<List<String>> all = new CompletableFuture<>();
        secrets.watch("1", Duration.ofHours(1), event -> {
            if (event instanceof WatchEvent.Ended<Secret> ended) {
                seen.add("ended " + ended.failure());
                endOf.set(ended.failure());
                all.complete(seen);
            } else {
                seen.add(event.toString());
            }
        });
        List<String> complete =
                all.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
        requireDecent(endOf.get());
        return complete;
    }

    private static void requireDecent(@Nullable ApiServerException failure) {
        if (failure != null) {
            assertThat(failure.getMessage()).hasSizeLessThan(600).doesNotContain(NoLeaks.CANARY);
            assertThat(failure).hasNoCause();
        }
    }
}
