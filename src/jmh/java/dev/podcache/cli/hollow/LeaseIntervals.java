package dev.podcache.cli.hollow;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Watches the Leases of all nodes, and how much time passes between two renewals of one Lease. Thread-safe. */
final class LeaseIntervals implements Watcher<Lease> {

    private static final Duration LATE = Duration.ofSeconds(15);

    private final Map<String, ZonedDateTime> last = new HashMap<>();
    private Duration longest = Duration.ZERO;
    private long renewals;
    private long late;

    @Override
    public synchronized void eventReceived(Action action, Lease lease) {
        ZonedDateTime renewed = lease.getSpec().getRenewTime();
        ZonedDateTime before = last.put(lease.getMetadata().getName(), renewed);
        if (before == null || renewed.equals(before)) {
            return;
        }
        Duration interval = Duration.between(before, renewed);
        renewals++;
        if (interval.compareTo(LATE) > 0) {
            late++;
        }
        if (interval.compareTo(longest) > 0) {
            longest = interval;
        }
    }

    @Override
    public void onClose(WatcherException cause) {
        System.err.println("the watch of the Leases ended; later renewals are not counted: " + cause);
    }

    /** Returns what was seen since the last call, as three cells of a table. */
    synchronized String cells() {
        String cells = String.format(Locale.ROOT, " %d | %.1f | %d |", renewals, longest.toMillis() / 1000.0, late);
        renewals = 0;
        late = 0;
        longest = Duration.ZERO;
        return cells;
    }
}
