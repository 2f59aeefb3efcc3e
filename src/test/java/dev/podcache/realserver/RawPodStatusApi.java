package dev.podcache.realserver;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.PodStatusApi;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.RawApi;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Status;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The port over plain HTTP, with a log of the requests: what is sent is judged by a real server and by no adapter of ours. */
final class RawPodStatusApi implements PodStatusApi, AutoCloseable {

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private final RawApi api;
    private final ExecutorService threads = Executors.newFixedThreadPool(8);
    private final List<String> requests = new CopyOnWriteArrayList<>();

    RawPodStatusApi(RawApi api) {
        this.api = api;
    }

    private interface Call {
        RawApi.Reply send() throws IOException, InterruptedException;
    }

    /** Each as its verb and the pod's name. */
    List<String> requests() {
        return requests;
    }

    @Override
    public CompletableFuture<Pod> get(ObjectKey key) {
        return send("GET " + key.name(), () -> api.get(ObjectKind.POD.path(key)));
    }

    @Override
    public CompletableFuture<Pod> patchStatus(ObjectKey key, String patch) {
        return send(
                "PATCH " + key.name(),
                () -> api.patch(ObjectKind.POD.path(key) + "/status", "application/strategic-merge-patch+json", patch));
    }

    @Override
    public CompletableFuture<Pod> delete(ObjectKey key, String uid) {
        String options = "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"gracePeriodSeconds\":0,"
                + "\"preconditions\":{\"uid\":\"" + uid + "\"}}";
        return send("DELETE " + key.name(), () -> api.delete(ObjectKind.POD.path(key), options));
    }

    private CompletableFuture<Pod> send(String request, Call call) {
        requests.add(request);
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return read(request, call.send());
                    } catch (IOException e) {
                        throw NoAnswer.because(request, "the server", e);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                },
                threads);
    }

    private static Pod read(String request, RawApi.Reply reply) throws JsonProcessingException {
        if (reply.code() >= 300) {
            Status status = MAPPER.treeToValue(reply.body(), Status.class);
            throw ApiServerException.answered(request, reply.code(), status, null);
        }
        return MAPPER.treeToValue(reply.body(), Pod.class);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
