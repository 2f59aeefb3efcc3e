package dev.podcache.chaos;

import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/** P3: of the refreshes of an object, as they leave one cache, no two are within one TTL. Thread-safe. */
final class Refreshes implements Interceptor {

    /*
     * A refresh is a GET of resourceVersion=0: first reads, and the checks of answers that are older than what is known,
     * ask for the latest. It leaves before its answer arrives, and from then on that is fresh for one TTL, so whatever
     * turns the threads take, the next refresh leaves at least one TTL after it. Not so
     *
     * - if it failed: the promise is about servers that answer. The failure is told before the next can begin.
     * - if there was a new reference since the get that began it: then its answer is not kept. It leaves on another
     *   thread than that of the get, a moment later.
     */

    private static final String REFRESH = "resourceVersion=0";

    private final World world;
    private final Claims claims;
    private final Map<String, Subject> subjects;
    private final Map<String, Long> latest = new ConcurrentHashMap<>();

    /** Those of the cache with these claims. */
    Refreshes(World world, Claims claims) {
        this.world = world;
        this.claims = claims;
        subjects = world.subjects.stream().collect(Collectors.toMap(world::path, Function.identity()));
    }

    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
        leaves(request.uri(), world.time.now());
    }

    /** A request leaves. */
    void leaves(URI uri, long now) {
        String path = uri.getPath();
        Subject subject = subjects.get(path);
        if (subject == null || !REFRESH.equals(uri.getQuery())) {
            return;
        }
        world.figures.count("refresh sent");
        Long before = latest.put(path, now);
        Claims.Claim claim = claims.of(subject);
        if (before == null || !claim.isHeld() || claim.epoch().began > before - Rules.SLACK.toNanos()) {
            return;
        }
        world.figures.count("refresh held to P3");
        if (now - before < Rules.TTL.toNanos()) {
            String what = "refreshed " + RunTime.seconds(now - before) + " after it was, which had not failed";
            world.violations.add("P3", subject, what);
        }
    }

    /** A fetch of what is at that path failed; NotFound counts. */
    void failed(String path) {
        latest.remove(path);
    }
}
