package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.TokenRequests;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.FakeTokenRequests;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Whatever the API server answers and however the time passes. */
class ServiceAccountTokensProperties {

    @Property(tries = 300)
    void aServedTokenIsValid_andFailuresPause(
            @ForAll @IntRange(min = 1, max = 7200) int life,
            @ForAll @DoubleRange(min = 0, max = 1) double random,
            @ForAll @Size(max = 40) List<@IntRange(min = 0, max = 4000) Integer> steps) {
        FakeTokenRequests server = new FakeTokenRequests();
        Map<String, Long> createdAt = new HashMap<>();
        ManualTimekeeper time = new ManualTimekeeper();
        server.life = Duration.ofSeconds(life);
        TokenRequests recorded = (account, spec) -> server.create(account, spec).thenApply(token -> {
            createdAt.put(token.token(), time.nanoTime());
            return token;
        });
        ServiceAccountTokens tokens = new ServiceAccountTokens(recorded, time, () -> random);
        Pod pod = PodConfigFixture.pod("test1", new Container());
        long lastFailure = Long.MIN_VALUE;
        for (int step : steps) {
            // even steps are followed by failing requests
            server.failure = step % 2 == 0 ? FailureReason.UNAVAILABLE : null;
            time.advance(Duration.ofSeconds(step));
            int before = server.requests();
            try {
                String token = tokens.of(pod, VolumeParts.token("", null, "token"), ConfigTarget.volume("v"));
                long age = time.nanoTime() - Objects.requireNonNull(createdAt.get(token));
                assertThat(Duration.ofNanos(age)).isLessThan(server.life);
            } catch (PodConfigException e) {
                assertThat(e).hasMessageContaining("refused");
            }
            boolean requested = server.requests() > before;
            if (requested && lastFailure != Long.MIN_VALUE) {
                assertThat(Duration.ofNanos(time.nanoTime() - lastFailure))
                        .isGreaterThanOrEqualTo(Duration.ofSeconds(10));
            }
            if (requested) {
                lastFailure = server.failure == null ? Long.MIN_VALUE : time.nanoTime();
            }
            tokens.nextRenewal(pod)
                    .ifPresent(
                            next -> assertThat(next).isBetween(Duration.ZERO, Duration.ofSeconds(Math.max(10, life))));
        }
    }
}
