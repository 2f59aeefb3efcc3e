package dev.podcache.kubelet.podconfig;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.TokenRequests;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.ServiceAccountTokenProjection;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ServiceAccount tokens of pods, for projected sources {@code serviceAccountToken}. Requests a token when a volume
 * first needs it, keeps it in memory, and renews it when a volume is resolved after 80 % of the token's life or after
 * 24 hours, up to 10 s earlier at random. While renewal fails, the old token is used until it expires. After a failed
 * request, the next one is made 10 s later at the earliest. Thread-safe.
 *
 * <p>Does not renew by itself: the owner resolves the pod's volumes again when {@link #nextRenewal} has passed. A token
 * is never part of a log line or message.
 *
 * <p>Follows {@code pkg/kubelet/token} of the kubelet. Unlike upstream, it measures the age of a token from its receipt,
 * so that a wrong clock does not matter, and it pauses after failures.
 */
public final class ServiceAccountTokens {

    private static final Logger log = LoggerFactory.getLogger(ServiceAccountTokens.class);
    private static final String DEFAULT_ACCOUNT = "default";

    private final TokenRequests requests;
    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private final Map<PodKey, Map<TokenSource, TokenState>> byPod = new ConcurrentHashMap<>();

    /** What distinguishes the tokens of one pod. */
    private record TokenSource(String account, String audience, OptionalLong expirationSeconds) {}

    /**
     * Creates an empty set of tokens.
     *
     * @param requests the API server
     * @param timekeeper measures the age of tokens
     * @param random returns numbers from 0 to 1, so that renewals of many pods are spread
     */
    public ServiceAccountTokens(TokenRequests requests, Timekeeper timekeeper, DoubleSupplier random) {
        this.requests = requests;
        this.timekeeper = timekeeper;
        this.random = random;
    }

    /**
     * Returns after which time a token of {@code pod} should be renewed; zero if that time has passed, empty if the pod
     * has no token. Resolve the pod's volumes then.
     */
    public Optional<Duration> nextRenewal(Pod pod) {
        return byPod.getOrDefault(PodReferences.key(pod), Map.of()).values().stream()
                .flatMap(token -> token.untilRenewal().stream())
                .min(Duration::compareTo);
    }

    /** Discards the tokens of a pod. Call it when the pod's volumes are no longer used. Idempotent. */
    public void forget(PodKey pod) {
        byPod.remove(pod);
    }

    /**
     * Returns a valid token. Blocks while it requests one.
     *
     * @throws PodConfigException if the pod has no valid token and none could be requested
     */
    String of(Pod pod, ServiceAccountTokenProjection projection, ConfigTarget target) {
        PodKey key = PodReferences.key(pod);
        TokenSource source = source(pod, projection);
        TokenState state = used(key, source);
        if (!state.needsRequest()) {
            return state.current(target);
        }
        ObjectKey account = ObjectKey.of(key.namespace(), source.account);
        try {
            state.received(requests.create(
                            account, new TokenRequests.TokenSpec(source.audience, source.expirationSeconds, key))
                    .get());
            removeAbandoned();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw target.failure("failed to fetch token: interrupted", e);
        } catch (ExecutionException e) {
            failed(state, key, account, Objects.requireNonNull(e.getCause()));
        }
        return state.current(target);
    }

    /** Returns the state of a token, which is not abandoned now. */
    private TokenState used(PodKey pod, TokenSource source) {
        Map<TokenSource, TokenState> tokens = byPod.compute(pod, (key, known) -> {
            // filled at once, as a pod without tokens is abandoned
            Map<TokenSource, TokenState> filled = known == null ? new ConcurrentHashMap<>() : known;
            filled.computeIfAbsent(source, unknown -> new TokenState(timekeeper, random))
                    .used();
            return filled;
        });
        return Objects.requireNonNull(tokens.get(source));
    }

    /** Returns the number of tokens that are kept. */
    int size() {
        return byPod.values().stream().mapToInt(Map::size).sum();
    }

    private void failed(TokenState state, PodKey pod, ObjectKey account, Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        if (cause instanceof ApiServerException e && e.reason() == FailureReason.FORBIDDEN) {
            message += "; the agent needs the permission to create serviceaccounts/token in namespace "
                    + account.namespace();
        }
        Optional<Duration> left = state.failed(account, message);
        left.ifPresent(duration -> log.warn(
                "token of ServiceAccount {} for Pod {} was not renewed: {}; the old token stays valid for {} s; retrying"
                        + " at each sync of the pod",
                account,
                pod,
                cause.getMessage(),
                duration.toSeconds()));
    }

    /** Removes the tokens of pods that should have been forgotten. */
    private void removeAbandoned() {
        // each pod atomically, as another thread may use its tokens again
        byPod.keySet()
                .forEach(pod -> byPod.computeIfPresent(pod, (key, tokens) -> {
                    boolean isAbandoned = tokens.values().stream().allMatch(TokenState::isAbandoned);
                    return isAbandoned ? null : tokens;
                }));
    }

    /** Returns the name of the ServiceAccount whose tokens the pods with this spec get, in their namespace. */
    public static String account(PodSpec spec) {
        String account = Nullables.orEmpty(spec.getServiceAccountName());
        return account.isEmpty() ? DEFAULT_ACCOUNT : account;
    }

    private static TokenSource source(Pod pod, ServiceAccountTokenProjection projection) {
        @Nullable Long seconds = projection.getExpirationSeconds();
        return new TokenSource(
                account(pod.getSpec()),
                Nullables.orEmpty(projection.getAudience()),
                seconds == null ? OptionalLong.empty() : OptionalLong.of(seconds));
    }
}
