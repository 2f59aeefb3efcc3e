package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.Account;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;

/** Changes that the demo makes at the server, and after how long the agent saw each. Thread-safe. */
public final class Changes implements Consumer<Sighting> {

    private record Made(String what, double at) {}

    private final Account account;
    private final DoubleSupplier seconds;
    private final ConcurrentHashMap<String, Made> unseen = new ConcurrentHashMap<>();
    private final Map<String, Double> seen = new LinkedHashMap<>(); // guarded by itself

    /**
     * No changes yet.
     *
     * @param account told of what is seen
     * @param seconds the time
     */
    public Changes(Account account, DoubleSupplier seconds) {
        this.account = account;
        this.seconds = seconds;
    }

    /** Is about to be made. */
    public void make(ObjectKind<?> kind, ObjectKey key, String what) {
        unseen.put(kind + " " + key, new Made(what, seconds.getAsDouble()));
    }

    /** Something was seen, made by the demo or by the user. */
    @Override
    public void accept(Sighting sighting) {
        Made made = unseen.remove(sighting.kind() + " " + sighting.key());
        if (made == null) {
            account.tell(sighting.event("", ImmutableMap.of()));
            return;
        }
        double after = seconds.getAsDouble() - made.at();
        synchronized (seen) {
            seen.put(made.what(), rounded(after));
        }
        account.tell(sighting.event(
                ", seen " + text(after) + " later", ImmutableMap.of("seenAfterSeconds", rounded(after))));
    }

    /** Whether the object was changed by the demo, and nobody has seen that yet. */
    public boolean isAwaited(ObjectKind<?> kind, ObjectKey key) {
        return unseen.containsKey(kind + " " + key);
    }

    /** What was seen so far, and after how many seconds each. */
    public Map<String, Double> seenAfter() {
        synchronized (seen) {
            return new LinkedHashMap<>(seen);
        }
    }

    /** A time for people: in milliseconds below a second. */
    static String text(double seconds) {
        if (seconds < 0.0005) {
            return "under 1 ms";
        }
        return seconds < 0.9995 ? Math.round(seconds * 1000) + " ms" : String.format(Locale.ROOT, "%.2f s", seconds);
    }

    /** A time for programs: in seconds, to the millisecond. */
    static double rounded(double seconds) {
        return Math.round(seconds * 1000) / 1000.0;
    }
}
