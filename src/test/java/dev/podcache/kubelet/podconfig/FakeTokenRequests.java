package dev.podcache.kubelet.podconfig;

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
final class FakeTokenRequests implements TokenRequests {

    final List<ObjectKey> accounts = new ArrayList<>();
    final List<TokenSpec> specs = new ArrayList<>();

    Duration life = Duration.ofHours(1);
    String prefix = "token-";

    @Nullable
    FailureReason failure;

    @Override
    public CompletableFuture<IssuedToken> create(ObjectKey serviceAccount, TokenSpec spec) {
        accounts.add(serviceAccount);
        specs.add(spec);
        return failure == null
                ? CompletableFuture.completedFuture(new IssuedToken(prefix + specs.size(), life))
                : CompletableFuture.failedFuture(
                        ApiServerException.withoutAnswer(failure, "POST token", "refused", null));
    }

    int requests() {
        return specs.size();
    }
}
