package dev.podcache.reflector;

import dev.podcache.apiserver.ListerWatcher;
import java.util.Objects;

/**
 * Lists a collection and watches it from the list's version on, with one request if the server
 * {@linkplain ListerWatcher#streamsLists streams lists}. Resumes a watch that ended from the last version seen, and
 * lists again if the server no longer knows that version. Failed attempts are repeated for ever: first after at most
 * 200 ms, then after pauses that double up to 30 s, or later if the server asks for a pause (Retry-After) or is
 * unreachable, see {@link Recovery}. Thread-safe.
 *
 * @param <T> the model class
 */
public final class Reflector<T> implements AutoCloseable {

    private final ReflectorLoop<T> loop;

    /**
     * Makes a reflector of many objects, not started. It considers the sink up to date once a watch is accepted:
     * another list of the whole collection would cost the server too much.
     *
     * @param server the collection to list and watch
     * @param sink receives the objects
     * @param recovery shared by all reflectors of the server
     */
    public Reflector(ListerWatcher<T> server, ReflectorSink<T> sink, Recovery recovery) {
        this(server, sink, recovery, false);
    }

    private Reflector(ListerWatcher<T> server, ReflectorSink<T> sink, Recovery recovery, boolean confirms) {
        this.loop = new ReflectorLoop<>(
                Objects.requireNonNull(server, "server"),
                Objects.requireNonNull(sink, "sink"),
                Objects.requireNonNull(recovery, "recovery"),
                confirms);
    }

    /**
     * Returns a reflector of one object, not started. After a failure, it lists the object once more unless an event or
     * a bookmark comes first, see {@link ReflectorSink#resumed}.
     *
     * @param server lists and watches the object by name
     * @param recovery shared by all reflectors of the server
     */
    public static <T> Reflector<T> ofOneObject(ListerWatcher<T> server, ReflectorSink<T> sink, Recovery recovery) {
        return new Reflector<>(server, sink, recovery, true);
    }

    /**
     * Returns a reflector of many objects, not started, that confirms them after a failure as {@link #ofOneObject}
     * does: unless an event or a bookmark comes first, it lists the collection once more.
     *
     * @param recovery shared by all reflectors of the server
     */
    public static <T> Reflector<T> confirming(ListerWatcher<T> server, ReflectorSink<T> sink, Recovery recovery) {
        return new Reflector<>(server, sink, recovery, true);
    }

    /** Starts with a list. Returns at once. Idempotent; without effect once closed. */
    public void start() {
        loop.start();
    }

    /**
     * Puts this reflector's attempts before those of others until the object is up to date, because a get waits for it.
     * Returns at once.
     */
    public void hurry() {
        loop.hurry();
    }

    /**
     * Ends the watch. After the return, no call of the sink begins. Waits at most 2 s for a call that runs on another
     * thread. May be called from the sink, but not while holding a lock that the sink takes. Idempotent.
     */
    @Override
    public void close() {
        loop.close();
    }
}
