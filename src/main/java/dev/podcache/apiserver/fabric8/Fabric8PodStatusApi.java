package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.PodStatusApi;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.DeleteOptions;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.concurrent.CompletableFuture;

/** {@link PodStatusApi} within the client-side limit. */
final class Fabric8PodStatusApi implements PodStatusApi {

    private final ObjectRequests<Pod> pods;

    Fabric8PodStatusApi(ObjectRequests<Pod> pods) {
        this.pods = pods;
    }

    @Override
    public CompletableFuture<Pod> get(ObjectKey key) {
        return pods.get(key);
    }

    @Override
    public CompletableFuture<Pod> patchStatus(ObjectKey key, String patch) {
        return pods.patchStatus(key, patch);
    }

    @Override
    public CompletableFuture<Pod> delete(ObjectKey key, String uid) {
        DeleteOptions options = new DeleteOptionsBuilder()
                .withGracePeriodSeconds(0L)
                .withNewPreconditions()
                .withUid(uid)
                .endPreconditions()
                .build();
        return pods.delete(key, options);
    }
}
