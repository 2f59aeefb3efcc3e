package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.Given.pod;
import static dev.podcache.kubelet.podstatus.Given.spec;
import static dev.podcache.kubelet.podstatus.Given.status;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PodStatusCacheTest {

    @Test
    void all_podThatChangesAgain_standsBehindThoseThatWait() {
        PodStatusCache cache = new PodStatusCache(uid -> Optional.empty(), new ManualTimekeeper());
        Pod busy = pod("busy", "uid-busy", spec("Always"));

        cache.set(busy, status("Pending"));
        cache.set(pod("calm", "uid-calm", spec("Always")), status("Pending"));
        cache.set(busy, status("Running"));

        assertThat(cache.all()).extracting(status -> status.pod().name()).containsExactly("calm", "busy");
        assertThat(cache.all()).extracting(VersionedPodStatus::version).isSorted();
    }
}
