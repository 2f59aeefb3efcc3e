package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.TokenRequests.IssuedToken;
import dev.podcache.apiserver.TokenRequests.TokenSpec;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.FakeTokenRequests;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountTokenProjection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** With the cases of the kubelet's {@code pkg/kubelet/token/token_manager_test.go}. */
@ExtendWith(NoLeaks.class)
class ServiceAccountTokensTest {

    private static final ConfigTarget VOLUME = ConfigTarget.volume("v");

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final FakeTokenRequests server = new FakeTokenRequests();
    private final ServiceAccountTokens tokens = new ServiceAccountTokens(server, time, () -> 0.0);
    private final Pod pod = pod("uid-1");

    @Test
    void of_firstTime_requestsATokenBoundToThePod() {
        assertThat(of(pod, "vault", 7200L)).isEqualTo("token-1");

        assertThat(server.accounts).containsExactly(ObjectKey.of("test1", "special"));
        assertThat(server.specs)
                .containsExactly(new TokenSpec(
                        "vault", OptionalLong.of(7200), PodKey.of("test1", "dapi-test-pod-name", "uid-1")));
    }

    @Test
    void of_podWithoutServiceAccount_usesTheDefault() {
        of(new PodBuilder(pod).editSpec().withServiceAccountName(null).endSpec().build());

        assertThat(server.accounts).containsExactly(ObjectKey.of("test1", "default"));
    }

    /** TestRequiresRefresh and TestTokenCachingAndExpiration: life and age in minutes. */
    @ParameterizedTest
    @CsvSource({
        "60,     10,   1",
        "60,     47,   1",
        "60,     50,   2",
        "60,     70,   2",
        "2400,   1380, 1",
        "2400,   1500, 2",
        "3600,   1500, 2"
    })
    void of_again_requestsAfter80PercentOfTheLifeOrADay(long life, long age, int requests) {
        server.life = Duration.ofMinutes(life);
        of(pod);

        time.advance(Duration.ofMinutes(age));

        assertThat(of(pod)).isEqualTo("token-" + requests);
        assertThat(server.requests()).isEqualTo(requests);
    }

    /** "rotate hour token fails, old token is still valid, doesn't error". */
    @Test
    void of_renewalFails_servesTheOldTokenUntilItExpires(NoLeaks leaks) {
        leaks.allowWarnings("was not renewed");
        of(pod);
        server.failure = FailureReason.UNAVAILABLE;

        time.advance(Duration.ofMinutes(50));
        assertThat(of(pod)).isEqualTo("token-1");

        time.advance(Duration.ofMinutes(10));
        assertThatThrownBy(() -> of(pod))
                .isInstanceOf(PodConfigException.class)
                .hasMessage("token of ServiceAccount test1/special expired and refresh failed: POST token: refused");

        server.failure = null;
        time.advance(Duration.ofSeconds(10));
        assertThat(of(pod)).isEqualTo("token-4");
    }

    @Test
    void of_failure_isRepeatedFor10SecondsWithoutARequest() {
        server.failure = FailureReason.UNAVAILABLE;
        assertThatThrownBy(() -> of(pod)).hasMessage("failed to fetch token: POST token: refused");
        server.failure = null;

        time.advance(Duration.ofMillis(9999));
        assertThatThrownBy(() -> of(pod)).hasMessage("failed to fetch token: POST token: refused");
        assertThat(server.requests()).isEqualTo(1);

        time.advance(Duration.ofMillis(1));
        assertThat(of(pod)).isEqualTo("token-2");
    }

    @Test
    void of_forbidden_namesTheMissingPermission() {
        server.failure = FailureReason.FORBIDDEN;

        assertThatThrownBy(() -> of(pod))
                .hasMessage("failed to fetch token: POST token: refused; the agent needs the permission to create"
                        + " serviceaccounts/token in namespace test1");
    }

    @Test
    void of_interrupted_failsAndKeepsTheInterrupt() {
        ServiceAccountTokens silent =
                new ServiceAccountTokens((account, spec) -> new CompletableFuture<>(), time, () -> 0.0);
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> silent.of(pod, projection("", null), VOLUME))
                .hasMessage("failed to fetch token: interrupted");
        assertThat(Thread.interrupted()).isTrue();
    }

    /** TestKeyFunc: what differs in one of these has a token of its own. */
    @Test
    void of_otherPodAudienceOrLife_requestsAnother() {
        of(pod, "", null);
        of(pod, "vault", null);
        of(pod, "", 600L);
        of(pod("uid-2"), "", null);
        assertThat(server.requests()).isEqualTo(4);

        of(pod, "", null);
        of(pod, "vault", null);
        assertThat(server.requests()).isEqualTo(4);
    }

    /** TestDeleteServiceAccountToken. */
    @Test
    void forget_removesTheTokensOfThatPodOnly() {
        of(pod, "", null);
        of(pod, "vault", null);
        of(pod("uid-2"));

        tokens.forget(PodReferences.key(pod));
        tokens.forget(PodReferences.key(pod("uid-3")));

        assertThat(tokens.size()).isEqualTo(1);
        of(pod("uid-2"));
        assertThat(server.requests()).isEqualTo(3);
        assertThat(of(pod)).isEqualTo("token-4");
    }

    /** TestCleanup: a pod that was not forgotten does not keep its token for ever. */
    @Test
    void of_tokensThatExpiredLongAgo_areRemoved() {
        of(pod);
        time.advance(Duration.ofHours(2));
        of(pod("uid-2"));
        assertThat(tokens.size()).isEqualTo(2);

        time.advance(Duration.ofSeconds(1));
        of(pod("uid-3"));
        assertThat(tokens.size()).isEqualTo(2);
    }

    /** After a long outage, many pods request tokens at the same time. */
    @Test
    void of_anotherPodGetsATokenWhileAnExpiredOneIsRequested_bothAreKept() {
        Pod other = pod("uid-2");
        List<Runnable> meanwhile = new ArrayList<>();
        ServiceAccountTokens slow = new ServiceAccountTokens(
                (account, spec) -> {
                    List<Runnable> due = List.copyOf(meanwhile);
                    meanwhile.clear();
                    due.forEach(Runnable::run);
                    return server.create(account, spec);
                },
                time,
                () -> 0.0);
        slow.of(pod, projection("", null), VOLUME);
        time.advance(Duration.ofHours(3));

        meanwhile.add(() -> slow.of(other, projection("", null), VOLUME));
        slow.of(pod, projection("", null), VOLUME);

        assertThat(server.requests()).isEqualTo(3);
        assertThat(slow.nextRenewal(other)).isPresent();
        assertThat(slow.nextRenewal(pod)).isPresent();
    }

    @Test
    void nextRenewal_isTheEarliestOfThePod() {
        assertThat(tokens.nextRenewal(pod)).isEmpty();
        of(pod, "", null);
        assertThat(tokens.nextRenewal(pod)).contains(Duration.ofMinutes(48));
        server.life = Duration.ofMinutes(10);
        of(pod, "vault", null);
        assertThat(tokens.nextRenewal(pod)).contains(Duration.ofMinutes(8));

        time.advance(Duration.ofMinutes(9));
        assertThat(tokens.nextRenewal(pod)).contains(Duration.ZERO);
        tokens.forget(PodReferences.key(pod));
        assertThat(tokens.nextRenewal(pod)).isEmpty();
    }

    @Test
    void nextRenewal_afterAFailure_isInTenSeconds(NoLeaks leaks) {
        leaks.allowWarnings("was not renewed");
        of(pod);
        time.advance(Duration.ofMinutes(50));
        server.failure = FailureReason.TIMEOUT;
        of(pod);

        assertThat(tokens.nextRenewal(pod)).contains(Duration.ofSeconds(10));
    }

    @Test
    void nextRenewal_isUpTo10SecondsEarlierAtRandom() {
        ServiceAccountTokens jittered = new ServiceAccountTokens(server, time, () -> 1.0);
        jittered.of(pod, projection("", null), VOLUME);

        assertThat(jittered.nextRenewal(pod)).contains(Duration.ofMinutes(48).minusSeconds(10));
    }

    @Test
    void text_hasNoToken(NoLeaks leaks) {
        server.prefix = NoLeaks.CANARY;
        leaks.allowWarnings("was not renewed");
        of(pod);
        time.advance(Duration.ofMinutes(50));
        server.failure = FailureReason.FORBIDDEN;
        of(pod);
        time.advance(Duration.ofHours(1));

        assertThatThrownBy(() -> of(pod)).satisfies(NoLeaks::saw);
        assertThat(new IssuedToken(NoLeaks.CANARY, Duration.ofHours(1))).hasToString("IssuedToken[PT1H]");
    }

    private String of(Pod of) {
        return of(of, "", null);
    }

    private String of(Pod of, String audience, @Nullable Long seconds) {
        return tokens.of(of, projection(audience, seconds), VOLUME);
    }

    private static ServiceAccountTokenProjection projection(String audience, @Nullable Long seconds) {
        return VolumeParts.token(audience, seconds, "token");
    }

    private static Pod pod(String uid) {
        return new PodBuilder(PodConfigFixture.pod("test1", new Container()))
                .editMetadata()
                .withUid(uid)
                .endMetadata()
                .build();
    }
}
