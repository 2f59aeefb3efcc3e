package dev.podcache.testing;

import dev.podcache.apiserver.EventApi;
import dev.podcache.apiserver.LeaseApi;
import dev.podcache.apiserver.NodeApi;
import dev.podcache.apiserver.PodStatusApi;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** The fakes of the ports keep the contract of those that they stand for. */
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
    protected Server server() {
        return new Server() {
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
    protected NodeApi nodes() {
        return fake.nodeApi(Duration.ofSeconds(2));
    }

    @Override
    protected LeaseApi leases() {
        return fake.leaseApi(Duration.ofSeconds(2));
    }

    @Override
    protected PodStatusApi pods(Duration timeout) {
        return fake.podStatusApi(timeout);
    }

    @Override
    protected EventApi events(Duration timeout) {
        return fake.eventApi(timeout);
    }
}
