package dev.podcache.kubelet.server;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.common.hash.HashCode;
import com.google.common.hash.Hashing;
import dev.podcache.apiserver.AccessReviews;
import dev.podcache.object.Subject;
import dev.podcache.time.Timekeeper;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which user sent a request: by client certificate, or else by bearer token, as a kubelet with {@code
 * authentication.webhook.enabled} and without anonymous users. Thread-safe; no method blocks.
 *
 * <p>The API server is asked once for a token, however many requests wait for the answer. An accepted token is accepted
 * for 2 min, a refused one refused for 10 s. A failure is not remembered. Tokens are kept as hashes only.
 */
final class Authentication {

    static final Duration ACCEPTED_FOR = Duration.ofMinutes(2);
    static final Duration REFUSED_FOR = Duration.ofSeconds(10);

    /** How long a token that was accepted once does not count as one of unknown origin. */
    private static final Duration KNOWN_FOR = Duration.ofHours(1);

    private static final String AUTHENTICATED = "system:authenticated";
    private static final int MOST_TOKENS = 4096;

    private final AccessReviews reviews;
    private final Supplier<ClientCertificates> certificates;
    private final ReviewLimit limit;

    // apart, so that refused tokens displace no accepted ones
    private final Cache<HashCode, Optional<Subject>> accepted;
    private final Cache<HashCode, Optional<Subject>> refused;
    private final Cache<HashCode, HashCode> acceptedLately;
    private final Map<HashCode, CompletableFuture<Optional<Subject>>> underReview = new ConcurrentHashMap<>();

    /**
     * Creates an instance.
     *
     * @param certificates returns the current authority of client certificates
     */
    Authentication(AccessReviews reviews, Supplier<ClientCertificates> certificates, Timekeeper timekeeper) {
        this.reviews = reviews;
        this.certificates = certificates;
        this.limit = new ReviewLimit(timekeeper);
        this.accepted = tokens(ACCEPTED_FOR, timekeeper);
        this.refused = tokens(REFUSED_FOR, timekeeper);
        this.acceptedLately = tokens(KNOWN_FOR, timekeeper);
    }

    private static <V> Cache<HashCode, V> tokens(Duration lifetime, Timekeeper timekeeper) {
        return Caffeine.newBuilder()
                .maximumSize(MOST_TOKENS)
                .expireAfterWrite(lifetime)
                .ticker(timekeeper::nanoTime)
                .executor(Runnable::run)
                .build();
    }

    /**
     * Returns the user of a request; empty if it is anonymous or its credentials are not accepted. The future fails if
     * the API server does not answer, or with a {@link RefusedException}: 429 if the client has caused too many reviews, 403
     * if a web page of another origin has a browser open a WebSocket with its user's certificate.
     */
    CompletableFuture<Optional<Subject>> userOf(KubeletRequest request) {
        Optional<Subject> user = certificates.get().userOf(request.certificates());
        if (user.isPresent()) {
            requireOwnOrigin(request);
            return CompletableFuture.completedFuture(user.map(Authentication::authenticated));
        }
        String token = bearerToken(request.authorization());
        if (token == null) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        HashCode hash = Hashing.sha256().hashString(token, StandardCharsets.UTF_8);
        return ownerOf(hash, token, request.source()).thenApply(owner -> owner.map(Authentication::authenticated));
    }

    private CompletableFuture<Optional<Subject>> ownerOf(HashCode hash, String token, ClientSource source) {
        for (Cache<HashCode, Optional<Subject>> known : List.of(accepted, refused)) {
            Optional<Subject> owner = known.getIfPresent(hash);
            if (owner != null) {
                return CompletableFuture.completedFuture(owner);
            }
        }
        CompletableFuture<Optional<Subject>> result = new CompletableFuture<>();
        CompletableFuture<Optional<Subject>> other = underReview.putIfAbsent(hash, result);
        if (other != null) {
            return other;
        }
        try {
            ReviewLimit.PermittedReview review = limit.begin(source, acceptedLately.getIfPresent(hash) != null);
            reviews.reviewToken(token).whenComplete((owner, failure) -> {
                review.end(failure != null || owner.isPresent());
                // known before it is not under review any more, so that it is not reviewed twice
                if (failure == null) {
                    remember(hash, owner);
                    underReview.remove(hash);
                    result.complete(owner);
                } else {
                    underReview.remove(hash);
                    result.completeExceptionally(failure);
                }
            });
        } catch (RuntimeException | Error e) {
            underReview.remove(hash);
            result.completeExceptionally(e);
        }
        return result;
    }

    private void remember(HashCode hash, Optional<Subject> owner) {
        if (owner.isPresent()) {
            accepted.put(hash, owner);
            acceptedLately.put(hash, hash);
        } else {
            refused.put(hash, owner);
        }
    }

    /** A browser sends the certificate of its user whatever page asks it to, and lets that page use the WebSocket. */
    private static void requireOwnOrigin(KubeletRequest request) {
        String origin = request.origin().toLowerCase(Locale.ROOT);
        String own = "https://" + request.host().toLowerCase(Locale.ROOT);
        if (!request.upgrade().isEmpty()
                && !origin.isEmpty()
                && !withoutDefaultPort(origin).equals(withoutDefaultPort(own))) {
            throw new RefusedException(403, "a page of another origin may not open a connection with your certificate");
        }
    }

    private static String withoutDefaultPort(String origin) {
        return origin.endsWith(":443") ? origin.substring(0, origin.length() - ":443".length()) : origin;
    }

    private static @Nullable String bearerToken(@Nullable String authorization) {
        String[] words =
                authorization == null ? new String[0] : authorization.strip().split(" ", 3);
        boolean bearer = words.length >= 2 && words[0].toLowerCase(Locale.ROOT).equals("bearer");
        return bearer && !words[1].isEmpty() ? words[1] : null;
    }

    private static Subject authenticated(Subject user) {
        if (user.groups().contains(AUTHENTICATED)) {
            return user;
        }
        List<String> groups = new ArrayList<>(user.groups());
        groups.add(AUTHENTICATED);
        return Subject.user(user.name(), groups, user.uid(), user.extra());
    }
}
