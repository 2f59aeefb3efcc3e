package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Selection;
import dev.podcache.embedded.StatusException;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

/**
 * P7: whatever happens to the objects, the connection and the server's memory, once it stops
 * the sink is equal to the server.
 */
class ReflectorProperties {

    private static final Duration CAP_AND_A_LIST = Duration.ofSeconds(31);

    /** What may happen. */
    enum ReflectorStep {
        WRITE,
        WRITE_ANOTHER,
        DELETE,
        RESET,
        FORGET,
        FAIL,
        FAIL_THRICE,
        HOLD_CACHE,
        RELEASE_CACHE,
        MOMENT,
        MINUTE,
        HOUR
    }

    private static final class VersionMirror implements ReflectorSink<ConfigMap> {

        final Map<String, String> versions = new TreeMap<>();
        boolean connected;

        @Override
        public void replace(List<Fetched<ConfigMap>> items, String resourceVersion) {
            versions.clear();
            items.forEach(this::upsert);
        }

        @Override
        public void upsert(Fetched<ConfigMap> fetched) {
            versions.put(fetched.object().getMetadata().getName(), fetched.resourceVersion());
        }

        @Override
        public void delete(Fetched<ConfigMap> last) {
            versions.remove(last.object().getMetadata().getName());
        }

        @Override
        public void connected() {
            connected = true;
        }

        @Override
        public void disconnected(ApiServerException cause) {
            connected = false;
        }
    }

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(time);
    private int writes;

    @Property
    void sink_afterAnyTroubleHasEnded_equalsTheServer(@ForAll @Size(max = 40) List<ReflectorStep> steps) {
        VersionMirror mirror = new VersionMirror();
        Reflector<ConfigMap> reflector = new Reflector<>(
                server.listerWatcher(ObjectKind.CONFIG_MAP, "shop", ""), mirror, new Recovery(time, () -> 0.0));
        equalsTheServer(reflector, mirror, steps, "");
    }

    @Property
    void sinkOfOneObject_afterAnyTroubleHasEnded_equalsTheServer(
            @ForAll @Size(max = 40) List<ReflectorStep> steps, @ForAll boolean streamsLists) {
        server.setStreamsLists(streamsLists);
        VersionMirror mirror = new VersionMirror();
        Reflector<ConfigMap> reflector = Reflector.ofOneObject(
                server.listerWatcher(ObjectKind.CONFIG_MAP, "shop", "metadata.name=one"),
                mirror,
                new Recovery(time, () -> 0.0));
        equalsTheServer(reflector, mirror, steps, "two");
    }

    private void equalsTheServer(
            Reflector<ConfigMap> reflector, VersionMirror mirror, List<ReflectorStep> steps, String unselected) {
        reflector.start();

        steps.forEach(this::happen);
        server.faults().clear();
        server.cluster().releaseWatchCache();
        time.advance(CAP_AND_A_LIST);

        Map<String, String> selected = stored();
        selected.remove(unselected);
        assertThat(mirror.versions).isEqualTo(selected);
        assertThat(mirror.connected).isTrue();
        assertThat(server.openWatches()).isEqualTo(1);
        reflector.close();
        assertThat(server.openWatches()).isZero();
        assertThat(server.cluster().openWatches(Resource.CONFIG_MAPS)).isZero();
    }

    private void happen(ReflectorStep step) {
        switch (step) {
            case WRITE -> write("one");
            case WRITE_ANOTHER -> write("two");
            case DELETE -> {
                if (stored().containsKey("one")) {
                    server.cluster().delete(configMap("one"));
                }
            }
            case RESET -> server.resetWatches();
            case FORGET -> server.forgetHistory();
            case FAIL -> server.faults().failNext(1, StatusException.serviceUnavailable(), RequestPattern.any());
            case FAIL_THRICE -> {
                server.faults().failNext(3, StatusException.serviceUnavailable(), RequestPattern.any());
                server.resetWatches();
            }
            case HOLD_CACHE -> server.cluster().holdWatchCache();
            case RELEASE_CACHE -> server.cluster().releaseWatchCache();
            case MOMENT -> time.advance(Duration.ofMillis(300));
            case MINUTE -> time.advance(Duration.ofMinutes(1));
            case HOUR -> time.advance(Duration.ofHours(1));
        }
    }

    private void write(String name) {
        if (stored().containsKey(name)) {
            server.cluster().update(configMap(name));
        } else {
            server.cluster().create(configMap(name));
        }
    }

    private ConfigMap configMap(String name) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .endMetadata()
                .withData(Map.of("write", Integer.toString(writes++)))
                .build();
    }

    private Map<String, String> stored() {
        Map<String, String> versions = new TreeMap<>();
        server.cluster()
                .list(Resource.CONFIG_MAPS, Selection.everything().in("shop"), "")
                .items()
                .forEach(item -> versions.put(
                        item.path("metadata").path("name").asText(),
                        item.path("metadata").path("resourceVersion").asText()));
        return versions;
    }
}
