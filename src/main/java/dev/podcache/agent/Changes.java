package dev.podcache.agent;

import com.google.common.collect.ImmutableMap;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;

/** Changes that the demo makes at the server, and after how long the agent saw each. Thread-safe. */
final class Changes implements Consumer<Sighting> {

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
    Changes(Account account, DoubleSupplier seconds) {
        this.account = account;
        this.seconds = seconds;
    }

    /** Is about to be made. */
    void make(ObjectKind<?> kind, ObjectKey key, String what) {
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
            seen.put(made.what(), Math.round(after * 1000) / 1000.0);
        }
        account.tell(sighting.event(
                String.format(Locale.ROOT, ", seen %.2f s later", after),
                ImmutableMap.of("seenAfterSeconds", Math.round(after * 1000) / 1000.0)));
    }

    /** What was seen so far, and after how many seconds each. */
    Map<String, Double> seenAfter() {
        synchronized (seen) {
            return new LinkedHashMap<>(seen);
        }
    }
}
