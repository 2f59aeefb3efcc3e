package dev.podcache.apiserver;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** Requests tokens of ServiceAccounts, through their subresource {@code token}. Thread-safe. */
@FunctionalInterface
public interface TokenRequests {

    /**
     * Requests a new token, in a single attempt: one HTTP request, no retry. Returns at once and never throws. The
     * future completes within the timeout of the implementation, with the token or exceptionally with an {@link
     * ApiServerException}. Its reason is {@link dev.podcache.object.FailureReason#FORBIDDEN} without the permission to
     * create {@code serviceaccounts/token}, and {@link dev.podcache.object.FailureReason#NOT_FOUND} if the
     * ServiceAccount or the pod does not exist.
     */
    CompletableFuture<IssuedToken> create(ObjectKey serviceAccount, TokenSpec spec);

    /**
     * The token to request. Immutable.
     *
     * @param audience the intended receiver; empty for the API server
     * @param expirationSeconds the life of the token; empty for the server's default of one hour
     * @param pod the pod that the token is bound to: the token is invalid when the pod is deleted
     */
    record TokenSpec(String audience, OptionalLong expirationSeconds, PodKey pod) {}

    /**
     * A token from the API server. Immutable. {@link #toString} does not show the token.
     *
     * @param token the token; secret
     * @param life how long the token is valid, from its creation on; positive
     */
    record IssuedToken(String token, Duration life) {

        @Override
        public String toString() {
            return "IssuedToken[" + life + "]";
        }
    }
}
