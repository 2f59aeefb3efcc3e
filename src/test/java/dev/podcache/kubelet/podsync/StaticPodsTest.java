package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.staticpods.MirrorPods;
import dev.podcache.node.NodeLister;
import dev.podcache.object.ObjectKind;
import dev.podcache.pod.PodOrigin;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.UnsupportedObjectApi;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class StaticPodsTest {

    private final WorkersFixture fixture = new WorkersFixture();
    private final NodeLister node = NodeLister.following(
            WorkersFixture.NODE,
            fixture.server.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + WorkersFixture.NODE),
            new Recovery(fixture.timekeeper, () -> 0));
    private final MirrorPods mirrors =
            new MirrorPods(new UnsupportedObjectApi<>() {}, node, fixture.timekeeper, () -> {});
    private final StaticPods pods = new StaticPods(fixture.workers, mirrors);

    @BeforeEach
    void setUp() {
        fixture.server
                .cluster()
                .create(new NodeBuilder()
                        .withNewMetadata()
                        .withName(WorkersFixture.NODE)
                        .endMetadata()
                        .build());
        fixture.start();
        mirrors.replace(List.of());
        mirrors.staticPodsAreKnown();
    }

    @AfterEach
    void tearDown() {
        mirrors.close();
        node.close();
        fixture.close();
    }

    private static Pod pod(String name) {
        return new PodBuilder(WorkersFixture.pod(name).build())
                .editMetadata()
                .withUid("uid-" + name)
                .addToAnnotations(PodOrigin.SOURCE, "file")
                .addToAnnotations(PodOrigin.HASH, "uid-" + name)
                .endMetadata()
                .build();
    }

    /** An API that throws, as none should. */
    @Test
    @ExpectedWarnings({
        "mirror pod shop/a was not created; retrying: java.lang.UnsupportedOperationException",
        "mirror pod shop/b was not created; retrying: java.lang.UnsupportedOperationException"
    })
    void set_requestThrows_isRetriedAndTheOthersGoOn() {
        pods.set(List.of(pod("a"), pod("b")));

        assertThat(fixture.runtime.pods()).hasSize(2);
    }
}
