package dev.podcache.chaos;

import dev.podcache.apiserver.http.ServerRequest;
import java.net.URI;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Sees each GET, list and watch of one cache leave, and how each GET ends. Thread-safe. */
final class Witness implements ObjIntConsumer<ServerRequest> {

    private static final Pattern BY_NAME = Pattern.compile("fieldSelector=metadata\\.name=([^&]+)");
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;

    private final World world;
    private final FetchRules fetches;
    private final Map<String, CachedObject> subjects;
    private final IdentityHashMap<ServerRequest, UUID> ids = new IdentityHashMap<>(); // guarded by this
    private final Set<ServerRequest> neverSent = Collections.newSetFromMap(new IdentityHashMap<>()); // guarded by this

    Witness(World world, FetchRules fetches) {
        this.world = world;
        this.fetches = fetches;
        subjects = world.subjects.stream().collect(Collectors.toMap(world::path, Function.identity()));
    }

    @Override
    public synchronized void accept(ServerRequest request, int status) {
        if (status < 0) {
            over(request);
        } else if (status > 0) {
            answered(request, status);
        } else if (!neverSent.remove(request)) {
            // else another thread gave it up at the moment when it was sent, so it is not under way
            UUID id = UUID.randomUUID();
            ids.put(request, id);
            leaves(id, URI.create("http://server" + request.path()), world.time.now());
        }
    }

    private void over(ServerRequest request) {
        CachedObject subject =
                subjects.get(URI.create("http://server" + request.path()).getPath());
        UUID id = ids.remove(request);
        if (subject == null) {
            return;
        }
        if (id == null) {
            neverSent.add(request);
            fetches.notSent(subject, world.time.now());
        } else {
            fetches.over(subject, id, world.time.now());
        }
    }

    private void answered(ServerRequest request, int status) {
        boolean answered = status == OK || status == NOT_FOUND;
        CachedObject subject =
                subjects.get(URI.create("http://server" + request.path()).getPath());
        UUID id = ids.get(request);
        if (subject != null && id != null) {
            fetches.ended(subject, id, answered, world.time.now());
        }
    }

    /** A request leaves. */
    void leaves(UUID id, URI uri, long now) {
        CachedObject subject = subjects.get(uri.getPath());
        if (subject != null) {
            fetches.left(subject, id, FetchRules.REFRESH.equals(uri.getQuery()), now);
        } else {
            Matcher byName = BY_NAME.matcher(Objects.toString(uri.getQuery(), ""));
            CachedObject listed = byName.lookingAt() ? subjects.get(uri.getPath() + "/" + byName.group(1)) : null;
            if (listed != null) {
                world.watches.requested(listed, now);
            }
        }
    }

    /** A fetch of what is at that path failed, or found nothing, says the cache. */
    void failed(String path) {
        CachedObject subject = subjects.get(path);
        if (subject != null) {
            fetches.toldFailed(subject);
        }
    }
}
