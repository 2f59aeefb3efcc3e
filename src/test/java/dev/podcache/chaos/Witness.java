package dev.podcache.chaos;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Sees each GET of one cache leave, and how it ends, in the HTTP client. Thread-safe. */
final class Witness implements Interceptor {

    private static final String ID = "X-Chaos-Id";
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;

    private final World world;
    private final Fetches fetches;
    private final Map<String, Subject> subjects;

    Witness(World world, Fetches fetches) {
        this.world = world;
        this.fetches = fetches;
        subjects = world.subjects.stream().collect(Collectors.toMap(world::path, Function.identity()));
    }

    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
        // a request is copied on its way, and the copy has an id of its own
        UUID id = UUID.randomUUID();
        builder.setHeader(ID, id.toString());
        leaves(id, request.uri(), world.time.now());
    }

    /** A request leaves. */
    void leaves(UUID id, URI uri, long now) {
        Subject subject = subjects.get(uri.getPath());
        if (subject != null && (uri.getQuery() == null || uri.getQuery().startsWith("resourceVersion="))) {
            fetches.left(subject, id, Fetches.REFRESH.equals(uri.getQuery()), now);
        }
    }

    @Override
    public void after(HttpRequest request, HttpResponse<?> response, AsyncBody.Consumer<List<ByteBuffer>> consumer) {
        boolean answered = response.code() == OK || response.code() == NOT_FOUND;
        Subject subject = subjects.get(request.uri().getPath());
        String id = request.header(ID);
        if (subject != null && id != null) {
            fetches.ended(subject, UUID.fromString(id), answered, world.time.now());
        }
    }

    /** A fetch of what is at that path failed, or found nothing, says the cache. */
    void failed(String path) {
        Subject subject = subjects.get(path);
        if (subject != null) {
            fetches.toldFailed(subject);
        }
    }
}
