package dev.podcache.kubelet.staticpods;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.StatusException;
import dev.podcache.embedded.Verb;
import dev.podcache.node.NodeLister;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.pod.PodOrigin;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class MirrorPodsTest {

    private static final String NODE = "worker-1";
    private static final ObjectKey WEB = ObjectKey.of("default", "web-worker-1");

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final Recovery recovery = new Recovery(timekeeper, () -> 0);
    private final NodeLister node =
            NodeLister.following(NODE, server.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + NODE), recovery);
    private final AtomicInteger changes = new AtomicInteger();
    private final MirrorPods mirrors = new MirrorPods(
            server.api(ObjectKind.POD, Duration.ofSeconds(10)), node, timekeeper, changes::incrementAndGet);
    private final Reflector<Pod> pods = new Reflector<>(
            server.listerWatcher(ObjectKind.POD, "", "spec.nodeName=" + NODE), new MirrorSink(mirrors), recovery);

    private record MirrorSink(MirrorPods mirrors) implements ReflectorSink<Pod> {

        @Override
        public void replace(List<Fetched<Pod>> items, String resourceVersion) {
            mirrors.replace(items.stream().map(Fetched::object).toList());
        }

        @Override
        public void upsert(Fetched<Pod> fetched) {
            mirrors.upsert(fetched.object());
        }

        @Override
        public void delete(Fetched<Pod> last) {
            mirrors.delete(last.object());
        }

        @Override
        public void connected() {}

        @Override
        public void disconnected(ApiServerException cause) {}
    }

    @AfterEach
    void close() {
        mirrors.close();
        pods.close();
        node.close();
        server.close();
        timekeeper.close();
    }

    private static Pod web(String image) {
        return PodManifest.parse(
                ("{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: main, image: " + image
                                + "}]}}")
                        .getBytes(StandardCharsets.UTF_8),
                Path.of("/web.yaml"),
                NODE);
    }

    private void createNode() {
        server.cluster()
                .create(new NodeBuilder()
                        .withNewMetadata()
                        .withName(NODE)
                        .endMetadata()
                        .build());
        mirrors.reconcile();
    }

    private void start() {
        createNode();
        pods.start();
        mirrors.staticPodsAreKnown();
    }

    private Optional<Pod> stored() {
        try {
            return Optional.of(server.cluster().get(Pod.class, "default", WEB.name()));
        } catch (StatusException none) {
            return Optional.empty();
        }
    }

    private Map<String, String> storedAnnotations() {
        return stored().orElseThrow().getMetadata().getAnnotations();
    }

    @Test
    void add_nodeExists_mirrorPodIsCreatedWithTheNodeAsItsOwner() {
        start();
        Pod pod = web("nginx");

        mirrors.add(pod);

        Pod mirror = stored().orElseThrow();
        assertThat(mirror.getMetadata().getUid()).isNotEqualTo(pod.getMetadata().getUid());
        assertThat(mirror.getMetadata().getAnnotations())
                .containsEntry("kubernetes.io/config.mirror", pod.getMetadata().getUid())
                .containsEntry("kubernetes.io/config.hash", pod.getMetadata().getUid())
                .containsEntry("kubernetes.io/config.source", "file");
        assertThat(mirror.getSpec().getNodeName()).isEqualTo(NODE);
        OwnerReference owner = mirror.getMetadata().getOwnerReferences().get(0);
        assertThat(owner.getKind()).isEqualTo("Node");
        assertThat(owner.getName()).isEqualTo(NODE);
        assertThat(owner.getUid())
                .isEqualTo(node.get().orElseThrow().getMetadata().getUid());
        assertThat(owner.getController()).isTrue();
        assertThat(owner.getBlockOwnerDeletion()).isNull();
        assertThat(mirrors.of(pod)).contains(mirror);
        assertThat(changes).hasPositiveValue();
    }

    @Test
    void add_nodeDoesNotExist_mirrorPodIsCreatedOnceItDoes() {
        pods.start();
        mirrors.staticPodsAreKnown();
        mirrors.add(web("nginx"));
        assertThat(stored()).isEmpty();

        createNode();

        assertThat(stored()).isPresent();
    }

    @Test
    void delete_mirrorPodAtTheServer_isCreatedAgain() {
        start();
        mirrors.add(web("nginx"));
        String before = stored().orElseThrow().getMetadata().getUid();

        server.cluster().deleteNow(stored().orElseThrow());

        assertThat(stored().orElseThrow().getMetadata().getUid()).isNotEqualTo(before);
    }

    @Test
    void delete_mirrorPodWithGracePeriod_isReplaced() {
        start();
        mirrors.add(web("nginx"));
        String before = stored().orElseThrow().getMetadata().getUid();

        server.cluster().delete(stored().orElseThrow());

        assertThat(stored().orElseThrow().getMetadata().getUid()).isNotEqualTo(before);
        assertThat(stored().orElseThrow().getMetadata().getDeletionTimestamp()).isNull();
    }

    @Test
    void add_anotherVersion_mirrorPodIsReplaced() {
        start();
        mirrors.add(web("nginx"));
        Pod second = web("httpd");

        mirrors.add(second);

        assertThat(storedAnnotations())
                .containsEntry(PodOrigin.MIRROR, second.getMetadata().getUid());
        assertThat(mirrors.of(second)).isPresent();
        assertThat(mirrors.of(web("nginx"))).isEmpty();
    }

    @Test
    void remove_mirrorPodIsDeleted() {
        start();
        mirrors.add(web("nginx"));

        mirrors.remove(WEB);

        assertThat(stored()).isEmpty();
    }

    @Test
    void orphanOfAnEarlierAgent_isDeletedOnlyAfterTheStaticPodsAreKnown() {
        createNode();
        server.cluster()
                .create(new PodBuilder(web("nginx"))
                        .editMetadata()
                        .withUid(null)
                        .addToAnnotations(PodOrigin.MIRROR, "an-old-hash")
                        .endMetadata()
                        .build());
        pods.start();
        assertThat(stored()).isPresent();

        mirrors.staticPodsAreKnown();

        assertThat(stored()).isEmpty();
    }

    @Test
    void mirrorPodOfAnEarlierAgent_isKept() {
        start();
        Pod pod = web("nginx");
        mirrors.add(pod);
        server.clearActions();

        try (MirrorPods next = new MirrorPods(
                server.api(ObjectKind.POD, Duration.ofSeconds(10)), node, timekeeper, changes::incrementAndGet)) {
            next.add(pod);
            next.staticPodsAreKnown();
            next.replace(List.of(stored().orElseThrow()));
        }

        assertThat(server.actions()).isEmpty();
    }

    @Test
    void otherPods_areLeftAlone() {
        start();
        server.cluster()
                .create(new PodBuilder(web("nginx"))
                        .editMetadata()
                        .withUid(null)
                        .endMetadata()
                        .build());

        mirrors.remove(WEB);

        assertThat(stored()).isPresent();
    }

    @Test
    void create_fails_isRepeatedAndReportedOnce(NoLeaks leaks) {
        leaks.allowWarnings("mirror pod default/web-worker-1 was not created; retrying: ");
        server.failNext(
                2,
                new ApiServerException(FailureReason.FORBIDDEN, 403, null, "for the test", null),
                RequestPattern.any().verb(Verb.CREATE));
        start();
        mirrors.add(web("nginx"));
        assertThat(stored()).isEmpty();

        timekeeper.advance(Duration.ofSeconds(5));

        assertThat(stored()).isPresent();
    }

    @Test
    void delete_isAnsweredWithConflict_theWatchDecides() {
        start();
        mirrors.add(web("nginx"));
        server.failNext(
                1,
                new ApiServerException(FailureReason.CONFLICT, 409, null, "for the test", null),
                RequestPattern.any().verb(Verb.DELETE));

        mirrors.remove(WEB);
        assertThat(stored()).isPresent();
        server.cluster()
                .updateStatus(new PodBuilder(stored().orElseThrow())
                        .withNewStatus()
                        .withPhase("Running")
                        .endStatus()
                        .build());

        assertThat(stored()).isEmpty();
    }

    @Test
    void close_noFurtherRequest(NoLeaks leaks) {
        leaks.allowWarnings("was not created; retrying: ");
        server.failNext(
                1,
                new ApiServerException(FailureReason.UNAVAILABLE, 0, null, "for the test", null),
                RequestPattern.any().verb(Verb.CREATE));
        start();
        mirrors.add(web("nginx"));

        mirrors.close();
        timekeeper.advance(Duration.ofMinutes(5));

        assertThat(stored()).isEmpty();
    }
}
