package dev.podcache.testing;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** Runs the contract of the write ports against {@link FakeApiServer}. */
@ExtendWith(NoLeaks.class)
class FakeAgentWritesTest extends AgentWritesContract {

    private final Timekeeper timekeeper = Timekeeper.system();
    private final FakeApiServer fake = new FakeApiServer(timekeeper);

    @AfterEach
    void stop() {
        fake.close();
        timekeeper.close();
    }

    @Override
    protected PodServer server() {
        return new PodServer() {
            @Override
            public void createNamespace(String name) {
                fake.cluster()
                        .create(new NamespaceBuilder()
                                .withNewMetadata()
                                .withName(name)
                                .endMetadata()
                                .build());
            }

            @Override
            public Pod create(Pod pod) {
                return fake.cluster().create(pod);
            }

            @Override
            public void stall() {
                fake.faults().hold(RequestPattern.any());
            }
        };
    }

    @Override
    protected ObjectApi<Node> nodes() {
        return fake.api(ObjectKind.NODE, Duration.ofSeconds(2));
    }

    @Override
    protected ObjectApi<Lease> leases() {
        return fake.api(ObjectKind.LEASE, Duration.ofSeconds(2));
    }

    @Override
    protected ObjectApi<Pod> pods(Duration timeout) {
        return fake.api(ObjectKind.POD, timeout);
    }

    @Override
    protected ObjectApi<Event> events(Duration timeout) {
        return fake.api(ObjectKind.EVENT, timeout);
    }
}
