package dev.podcache.kubelet.server;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.google.common.hash.HashCode;
import com.google.common.hash.Hashing;
import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.AccessReviews.ReviewedUser;
import dev.podcache.time.Timekeeper;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
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

    private static final String AUTHENTICATED = "system:authenticated";
    private static final int MOST_TOKENS = 4096;

    private final AccessReviews reviews;
    private final Supplier<ClientCertificates> certificates;
    private final AsyncCache<HashCode, Optional<ReviewedUser>> owners;

    /**
     * Creates an instance.
     *
     * @param certificates returns the current authority of client certificates
     */
    Authentication(AccessReviews reviews, Supplier<ClientCertificates> certificates, Timekeeper timekeeper) {
        this.reviews = reviews;
        this.certificates = certificates;
        this.owners = Caffeine.newBuilder()
                .maximumSize(MOST_TOKENS)
                .expireAfter(Expiry.<HashCode, Optional<ReviewedUser>>creating(
                        (token, owner) -> owner.isPresent() ? ACCEPTED_FOR : REFUSED_FOR))
                .ticker(timekeeper::nanoTime)
                .executor(Runnable::run)
                .buildAsync();
    }

    /**
     * Returns the user of a request; empty if it is anonymous or its credentials are not accepted. The future fails if
     * the API server does not answer.
     */
    CompletableFuture<Optional<ReviewedUser>> userOf(KubeletRequest request) {
        Optional<ReviewedUser> user = certificates.get().userOf(request.certificates());
        if (user.isPresent()) {
            return CompletableFuture.completedFuture(user.map(Authentication::authenticated));
        }
        String token = bearerToken(request.authorization());
        if (token == null) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        HashCode hash = Hashing.sha256().hashString(token, StandardCharsets.UTF_8);
        return owners.get(hash, (key, executor) -> reviews.reviewToken(token))
                .thenApply(owner -> owner.map(Authentication::authenticated));
    }

    private static @Nullable String bearerToken(@Nullable String authorization) {
        String[] words =
                authorization == null ? new String[0] : authorization.strip().split(" ", 3);
        boolean bearer = words.length >= 2 && words[0].toLowerCase(Locale.ROOT).equals("bearer");
        return bearer && !words[1].isEmpty() ? words[1] : null;
    }

    private static ReviewedUser authenticated(ReviewedUser user) {
        if (user.groups().contains(AUTHENTICATED)) {
            return user;
        }
        List<String> groups = new ArrayList<>(user.groups());
        groups.add(AUTHENTICATED);
        return new ReviewedUser(user.name(), user.uid(), groups, user.extra());
    }
}
