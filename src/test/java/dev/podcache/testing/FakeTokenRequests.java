package dev.podcache.testing;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.TokenRequests;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Issues the tokens {@code token-1}, {@code token-2} and so on, or fails. Not thread-safe. */
public final class FakeTokenRequests implements TokenRequests {

    /** The ServiceAccounts of all requests, in order. */
    public final List<ObjectKey> accounts = new ArrayList<>();
    /** The tokens that were requested, in order. */
    public final List<TokenSpec> specs = new ArrayList<>();

    /** The life of the next tokens. */
    public Duration life = Duration.ofHours(1);
    /** The beginning of the next tokens. */
    public String prefix = "token-";

    /** Why the next requests fail; null to issue tokens. */
    @Nullable
    public FailureReason failure;

    @Override
    public CompletableFuture<IssuedToken> create(ObjectKey serviceAccount, TokenSpec spec) {
        accounts.add(serviceAccount);
        specs.add(spec);
        return failure == null
                ? CompletableFuture.completedFuture(new IssuedToken(prefix + specs.size(), life))
                : CompletableFuture.failedFuture(
                        ApiServerException.withoutAnswer(failure, "POST token", "refused", null));
    }

    /** Returns the number of requests. */
    public int requests() {
        return specs.size();
    }
}
