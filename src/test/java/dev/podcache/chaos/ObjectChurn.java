package dev.podcache.chaos;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.testing.RawApi;
import dev.podcache.testing.RawApi.Reply;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Creates, updates, deletes and makes immutable, directly at the server, and keeps the histories. One thread. */
final class ObjectChurn {

    /*
     * A write that was not plainly accepted or refused may have happened. Nothing else is written until a
     * read says whether it did: it bears a marker that nothing else does. It cannot happen later either,
     * because every write names the version that it changes, and the server is never without its storage for
     * as long as it would keep a request.
     */

    private static final Duration BEFORE_ASKING_AGAIN = Duration.ofMillis(250);
    private static final int ASKED_AT_LAST = 100;
    private static final int PADDING = 4_000;
    private static final int SHORTEST_PAUSE = 10;
    private static final int LONGEST_PAUSE = 80;

    private final World world;
    private final RawApi api;
    private final SplittableRandom random;
    private final Map<CachedObject, Stored> stored = new HashMap<>();
    private int writes;
    private @Nullable Doubt doubt;

    /** What the server calls the present state. */
    private record Stored(String uid, String resourceVersion) {}

    /** A write of which nobody knows whether it happened. */
    private record Doubt(CachedObject subject, Version proposed) {}

    ObjectChurn(World world, RawApi api, SplittableRandom random) {
        this.world = world;
        this.api = api;
        this.random = random;
    }

    /** Creates most of the objects. */
    void populate() throws InterruptedException {
        for (CachedObject subject : world.subjects) {
            if (random.nextInt(100) < 75) {
                write(subject, newMarker(), false);
            }
        }
    }

    /** Writes, or finds out what became of the last write. */
    Duration step() throws InterruptedException {
        Doubt open = doubt;
        if (open != null) {
            return resolve(open) ? Duration.ZERO : BEFORE_ASKING_AGAIN;
        }
        CachedObject subject = world.subjects.get(random.nextInt(world.subjects.size()));
        if (world.isFrozen(subject)) {
            return Duration.ofMillis(SHORTEST_PAUSE);
        }
        Version current = world.history(subject).current();
        int dice = random.nextInt(100);
        // what is immutable and stays referred to is never asked for again
        boolean mayBeImmutable = !world.isSteady(subject);
        if (current.isAbsence()) {
            write(subject, newMarker(), mayBeImmutable && dice < 8);
        } else if (current.immutable()) {
            if (dice < 40) {
                write(subject, null, false);
            }
        } else {
            write(subject, dice < 20 ? null : newMarker(), mayBeImmutable && dice >= 95);
        }
        return Duration.ofMillis(random.nextInt(SHORTEST_PAUSE, LONGEST_PAUSE));
    }

    /** Finds out what became of the last write, of a server that is well. */
    void end() throws InterruptedException {
        for (int i = 0; i < ASKED_AT_LAST && doubt != null; i++) {
            if (!resolve(doubt)) {
                TimeUnit.NANOSECONDS.sleep(BEFORE_ASKING_AGAIN.toNanos());
            }
        }
    }

    private String newMarker() {
        return "write-" + ++writes;
    }

    private void write(CachedObject subject, @Nullable String marker, boolean immutable) throws InterruptedException {
        Version proposed = world.history(subject).propose(marker, immutable, world.time.now());
        world.journal.note(subject, "writing " + proposed);
        try {
            Reply reply = send(subject, proposed);
            if (reply.code() / 100 == 2) {
                applied(subject, proposed, reply);
                return;
            }
            world.journal.note(subject, "write answered " + reply.code());
        } catch (IOException e) {
            world.journal.note(subject, "write not answered: " + e);
        }
        doubt = new Doubt(subject, proposed);
    }

    private Reply send(CachedObject subject, Version proposed) throws IOException, InterruptedException {
        Stored known = stored.get(subject);
        if (known == null) {
            return api.post(
                    world.collectionPath(subject.kind()),
                    body(subject, proposed).toString());
        }
        if (proposed.isAbsence()) {
            ObjectNode options = JsonNodeFactory.instance.objectNode();
            options.put("apiVersion", "v1").put("kind", "DeleteOptions");
            options.putObject("preconditions").put("uid", known.uid()).put("resourceVersion", known.resourceVersion());
            return api.delete(world.path(subject), options.toString());
        }
        ObjectNode body = body(subject, proposed);
        body.withObject("/metadata").put("resourceVersion", known.resourceVersion());
        return api.put(world.path(subject), body.toString());
    }

    private ObjectNode body(CachedObject subject, Version proposed) {
        return Payloads.body(world.namespace, subject, proposed, random.nextInt(PADDING));
    }

    /** Whether it is known now. */
    private boolean resolve(Doubt open) throws InterruptedException {
        CachedObject subject = open.subject();
        try {
            Reply reply = api.get(world.path(subject));
            if (reply.code() != 200 && reply.code() != 404) {
                return false;
            }
            String marker = reply.code() == 404 ? "" : Payloads.marker(subject, reply.body());
            String proposed = open.proposed().marker();
            if (marker.equals(proposed == null ? "" : proposed)) {
                applied(subject, open.proposed(), reply);
            } else {
                world.history(subject).refused(open.proposed());
                world.figures.count("write lost");
                world.journal.note(subject, "did not happen: " + open.proposed());
            }
            doubt = null;
            return true;
        } catch (IOException notYet) {
            return false;
        }
    }

    private void applied(CachedObject subject, Version proposed, Reply reply) {
        world.history(subject).applied(proposed, world.time.now());
        world.figures.count(
                "write " + (proposed.isAbsence() ? "delete" : stored.containsKey(subject) ? "update" : "create")
                        + (proposed.immutable() ? " immutable" : ""));
        world.journal.note(subject, "has happened: " + proposed);
        if (proposed.isAbsence()) {
            stored.remove(subject);
        } else {
            stored.put(subject, new Stored(reply.text("/metadata/uid"), reply.text("/metadata/resourceVersion")));
        }
    }
}
