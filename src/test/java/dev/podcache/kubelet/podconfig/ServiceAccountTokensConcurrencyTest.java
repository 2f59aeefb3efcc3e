package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.TokenRequests.IssuedToken;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountTokenProjection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class ServiceAccountTokensConcurrencyTest {

    private static final int ROUNDS = 300_000;

    private final ServiceAccountTokens tokens = new ServiceAccountTokens(
            (account, spec) -> CompletableFuture.completedFuture(new IssuedToken("token", Duration.ofHours(1))),
            new ManualTimekeeper(),
            () -> 0.0);

    /** Each token of one thread removes the abandoned ones, among which the new one of the other thread is not. */
    @Test
    void of_twoPodsAtOnce_bothTokensAreKept() throws Exception {
        CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> lostTokens("uid-1"), NewThread.EACH);
        CompletableFuture<Integer> second = CompletableFuture.supplyAsync(() -> lostTokens("uid-2"), NewThread.EACH);

        assertThat(first.get(60, TimeUnit.SECONDS)).isZero();
        assertThat(second.get(60, TimeUnit.SECONDS)).isZero();
        assertThat(tokens.size()).isZero();
    }

    private int lostTokens(String uid) {
        Pod pod = new PodBuilder(PodConfigFixture.pod("test1", new Container()))
                .editMetadata()
                .withUid(uid)
                .endMetadata()
                .build();
        ServiceAccountTokenProjection projection = VolumeParts.token("", null, "token");
        int lost = 0;
        for (int round = 0; round < ROUNDS; round++) {
            tokens.of(pod, projection, ConfigTarget.volume("v"));
            lost += tokens.nextRenewal(pod).isPresent() ? 0 : 1;
            tokens.forget(PodReferences.key(pod));
        }
        return lost;
    }
}
