package dev.podcache.kubelet.podstatus;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.StatusException;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.pod.PodOrigin;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A manager on an in-memory cluster, with a manual clock. */
final class PodStatusFixture implements AutoCloseable {

    static final Duration TIMEOUT = Duration.ofSeconds(30);

    final ManualTimekeeper time = new ManualTimekeeper();
    final FakeApiServer server = new FakeApiServer(time);
    /** The pods that a watch would have delivered, by UID. */
    final Map<String, Pod> known = new LinkedHashMap<>();

    /** The mirror pods that a watch would have delivered, by the UID of their static pods. */
    final Map<String, Pod> mirrors = new LinkedHashMap<>();

    final PodStatusManager manager =
            new PodStatusManager(server.api(ObjectKind.POD, TIMEOUT), this::atServer, time, () -> 0.0);

    private Optional<Pod> atServer(String uid) {
        return Optional.ofNullable(known.get(uid))
                .flatMap(pod -> PodOrigin.isStatic(pod) ? Optional.ofNullable(mirrors.get(uid)) : Optional.of(pod));
    }

    /** Creates a pod in the cluster and delivers it to the manager. */
    Pod create(String name, PodSpec spec) {
        Pod created = server.cluster()
                .create(new PodBuilder(Given.pod(name, "", spec))
                        .withStatus(null)
                        .build());
        known.put(created.getMetadata().getUid(), created);
        return created;
    }

    /** Returns the pod in the cluster. */
    Pod stored(String name) {
        return server.cluster().get(Pod.class, "shop", name);
    }

    PodStatus storedStatus(String name) {
        return stored(name).getStatus();
    }

    /** Delivers the cluster's state of all pods. */
    void watch() {
        known.replaceAll((uid, pod) -> stored(pod.getMetadata().getName()));
    }

    /** Delivers the cluster's state of the pods that still exist; the others keep their last known state. */
    void watchWhatIsThere() {
        known.replaceAll((uid, pod) -> {
            try {
                Pod stored = stored(pod.getMetadata().getName());
                return stored.getMetadata().getUid().equals(uid) ? stored : pod;
            } catch (StatusException gone) {
                return pod;
            }
        });
    }

    /** Returns the manager's status of a pod. */
    PodStatus held(Pod pod) {
        return manager.getPodStatus(pod.getMetadata().getUid()).orElseThrow();
    }

    /** Runs all tasks that are due. */
    void sync() {
        time.advance(Duration.ZERO);
    }

    /** Returns the verbs of the requests since the last call of this method. */
    List<Verb> requests() {
        List<Verb> verbs =
                server.actions().stream().map(FakeApiServer.Action::verb).toList();
        server.clearActions();
        return verbs;
    }

    static ObjectKey key(String name) {
        return ObjectKey.of("shop", name);
    }

    static ApiServerException failure(FailureReason reason) {
        return ApiServerException.withoutAnswer(reason, "a request", "so the test wants it", null);
    }

    @Override
    public void close() {
        manager.close();
        server.close();
    }
}
