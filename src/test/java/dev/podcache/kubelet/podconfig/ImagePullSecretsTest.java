package dev.podcache.kubelet.podconfig;

import static dev.podcache.kubelet.podconfig.PodConfigFixture.NS;
import static dev.podcache.kubelet.podconfig.PodConfigFixture.secret;
import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.RecordedEvents;
import dev.podcache.testing.WatchedCaches;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class ImagePullSecretsTest {

    private final PodConfigFixture f = new PodConfigFixture();
    private final RecordedEvents events = new RecordedEvents();
    private final ImagePullSecrets pullSecrets = new ImagePullSecrets(f.secrets, events);

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void of_allThere_areInThePodsOrderWithoutAnEvent() {
        f.server.cluster().create(secret("a", Map.of("x", NoLeaks.CANARY)));
        f.server.cluster().create(secret("b", Map.of("x", "2")));

        assertThat(names(pod("b", "a"))).containsExactly("b", "a");
        assertThat(events.lines()).isEmpty();
    }

    @Test
    void of_someMissing_returnsTheOthersAndTellsOnce() {
        f.server.cluster().create(secret("b", Map.of("x", NoLeaks.CANARY)));
        Pod pod = pod("a", "b", "c");

        assertThat(names(pod)).containsExactly("b");
        assertThat(events.lines())
                .containsExactly("Warning FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets"
                        + " (a, c); attempting to pull the image may not succeed.");
        assertThat(events.events().get(0).about().getKind()).isEqualTo("Pod");
        assertThat(events.events().get(0).about().getUid()).isEqualTo("uid-1");
        assertThat(events.events().get(0).about().getNamespace()).isEqualTo(NS);
    }

    @Test
    void of_missingThenCreated_isThereTheNextTime() {
        Pod pod = pod("a");
        assertThat(names(pod)).isEmpty();

        f.server.cluster().create(secret("a", Map.of("x", "1")));

        assertThat(names(pod)).containsExactly("a");
        assertThat(events.lines()).hasSize(1);
    }

    @Test
    void of_emptyName_isSkippedInSilence() {
        assertThat(names(pod(""))).isEmpty();
        assertThat(events.lines()).isEmpty();
    }

    @Test
    void of_illegalName_isOneThatIsMissing() {
        assertThat(names(pod("No/Name"))).isEmpty();
        assertThat(events.lines()).hasSize(1).first().asString().contains("(No/Name)");
    }

    @Test
    void of_severalRefused_takesAsLongAsOne(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("failed; retrying");
        ManualTimekeeper timekeeper = new ManualTimekeeper();
        try (FakeApiServer server = new FakeApiServer(timekeeper);
                WatchedCaches caches = WatchedCaches.of(server)) {
            server.failNext(
                    Integer.MAX_VALUE,
                    new ApiServerException(FailureReason.FORBIDDEN, 403, null, "was answered 403", null),
                    RequestPattern.any());
            Pod pod = pod("a", "b", "c", "d");
            caches.secrets().registerPod(pod);
            FutureTask<List<Secret>> found =
                    new FutureTask<>(() -> new ImagePullSecrets(caches.secrets(), events).of(pod));
            Thread reader = new Thread(found, "reader");
            reader.start();
            // all its reads have begun, and end with another one that begins now
            await().until(() -> reader.getState() == Thread.State.WAITING || found.isDone());
            CompletableFuture<Secret> one =
                    caches.secrets().getObjectAsync(pod.getMetadata().getNamespace(), "a");

            while (!one.isDone()) {
                timekeeper.advance(Duration.ofMillis(50));
            }

            assertThat(Duration.ofNanos(timekeeper.nanoTime())).isLessThan(Duration.ofMillis(2_500));
            assertThat(found.get(Patience.SECONDS, TimeUnit.SECONDS)).isEmpty();
            assertThat(events.lines()).singleElement().asString().contains("(a, b, c, d)");
        }
    }

    private Iterable<String> names(Pod pod) {
        return pullSecrets.of(f.register(pod)).stream()
                .map(Secret::getMetadata)
                .map(metadata -> metadata.getName())
                .toList();
    }

    private static Pod pod(String... names) {
        return new PodBuilder(PodConfigFixture.pod(NS, new Container()))
                .editSpec()
                .withImagePullSecrets(
                        Arrays.stream(names).map(LocalObjectReference::new).toList())
                .endSpec()
                .build();
    }
}
