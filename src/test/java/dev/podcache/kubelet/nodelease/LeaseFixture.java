package dev.podcache.kubelet.nodelease;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** A controller that is not started, with an in-memory cluster and hand-driven time. */
@ExtendWith(NoLeaks.class)
abstract class LeaseFixture {

    static final Duration TIMEOUT = Duration.ofSeconds(3);
    static final Duration DURATION = Duration.ofSeconds(40);

    final ManualTimekeeper time = new ManualTimekeeper();
    final SteppingClock clock = new SteppingClock(time);
    final FakeApiServer server = new FakeApiServer(time);
    final AtomicInteger repeatedFailures = new AtomicInteger();
    final NodeLeaseOptions options = new NodeLeaseOptions("foo", DURATION, repeatedFailures::incrementAndGet);
    final LeaseSync sync =
            new LeaseSync(server.api(ObjectKind.LEASE, TIMEOUT), server.api(ObjectKind.NODE, TIMEOUT), options, clock);
    double random;
    final NodeLeaseController controller = new NodeLeaseController(sync, options, clock, () -> random);

    @AfterEach
    void tearDown() {
        controller.stopAsync().awaitTerminated();
        server.close();
    }

    void start() {
        controller.startAsync().awaitRunning();
        time.advance(Duration.ZERO);
    }

    long millisUntilNextCall() {
        int before = server.actions().size();
        long millis = 0;
        while (server.actions().size() == before && millis < 60_000) {
            time.advance(Duration.ofMillis(1));
            millis++;
        }
        return millis;
    }

    String createNode() {
        return server.cluster()
                .create(new NodeBuilder()
                        .withNewMetadata()
                        .withName("foo")
                        .endMetadata()
                        .build())
                .getMetadata()
                .getUid();
    }

    Lease createLease() {
        return server.cluster()
                .create(new LeaseBuilder()
                        .withNewMetadata()
                        .withNamespace("kube-node-lease")
                        .withName("foo")
                        .endMetadata()
                        .withNewSpec()
                        .withHolderIdentity("foo")
                        .withLeaseDurationSeconds(40)
                        .withRenewTime(time.wallTime().atZone(ZoneOffset.UTC))
                        .endSpec()
                        .build());
    }

    Lease stored() {
        return server.cluster().get(Lease.class, "kube-node-lease", "foo");
    }

    Lease known() {
        return Objects.requireNonNull(sync.latest());
    }

    static String version(Lease lease) {
        return lease.getMetadata().getResourceVersion();
    }

    List<String> calls() {
        return server.actions().stream()
                .map(action -> action.verb() + " " + action.kind())
                .toList();
    }

    void failUpdates(int times, FailureReason reason, int code) {
        server.failNext(
                times,
                failure(reason, code),
                RequestPattern.any().verb(Verb.UPDATE).resource(Resource.of(ObjectKind.LEASE.model())));
    }

    static ApiServerException failure(FailureReason reason, int code) {
        return new ApiServerException(reason, code, null, "told to fail with " + reason, null);
    }
}
