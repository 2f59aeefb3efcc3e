package dev.podcache.reflector;

import dev.podcache.apiserver.ListerWatcher;
import java.util.Objects;

/**
 * Lists, watches from the list's version on, resumes a watch that ended from the last version seen, and lists again
 * when the server has forgotten that version. Failed attempts are repeated for ever: first after at most 200 ms, then
 * after pauses that double up to 30 s, or later if the server asks for it (Retry-After) or is unreachable, see {@link
 * Recovery}. Thread-safe.
 *
 * @param <T> the model class
 */
public final class Reflector<T> implements AutoCloseable {

    private final ReflectorLoop<T> loop;

    /**
     * A reflector of many objects. A watch that is accepted counts as up to date: listing the whole collection once more
     * would cost the server too much. Does nothing yet.
     *
     * @param server what to follow
     * @param sink told what is there
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
     * Returns a reflector of one object. After a failure, it lists the object once more unless an event or a bookmark
     * comes first, see {@link ReflectorSink#resumed}. Does nothing yet.
     *
     * @param server what to follow, by the object's name
     * @param recovery shared by all reflectors of the server
     */
    public static <T> Reflector<T> ofOneObject(ListerWatcher<T> server, ReflectorSink<T> sink, Recovery recovery) {
        return new Reflector<>(server, sink, recovery, true);
    }

    /** Begins with a list. Returns at once. Idempotent; without effect once closed. */
    public void start() {
        loop.start();
    }

    /** A get waits for the object: its attempts go before those of others, until it is up to date. Returns at once. */
    public void hurry() {
        loop.hurry();
    }

    /**
     * Ends the watch. No call of the sink begins after this returned; one that runs on another thread is waited for, at
     * most 2 s. So it may be called from the sink, but not with a lock in hand that the sink takes. Idempotent.
     */
    @Override
    public void close() {
        loop.close();
    }
}
