package dev.podcache.kubelet.server;

import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Makes TLS handshakes, which keep the event loop busy for milliseconds: one in each turn of the loop, and one network after the
 * other. So requests are answered between two handshakes, and a network that begins thousands waits for itself. Confined to the
 * event loop of a listener.
 */
final class Handshakes {

    /*
     * `turn` is true while a turn is scheduled. Parts of handshakes wait only while it is. No queue in `waiting` is empty. A connection
     * has at most one part here, and OpenConnections limits the connections; those that were closed are dropped in the next turn of
     * their network.
     */

    private final Map<String, Queue<BooleanSupplier>> waiting = new LinkedHashMap<>(); // by network, the next one first
    private boolean turn;

    /**
     * Makes a part of a handshake: now if this turn of the loop has made none, otherwise in a later turn.
     *
     * @param loop of the connection, which calls this
     * @param part returns false if there is nothing to do, because the connection was closed meanwhile; should not throw
     */
    void make(EventLoop loop, ClientSource source, BooleanSupplier part) {
        if (turn) {
            waiting.computeIfAbsent(source.network(), network -> new ArrayDeque<>())
                    .add(part);
        } else {
            scheduleTurn(loop);
            // called for its effect: no other part waits for this turn
            boolean unused = part.getAsBoolean();
        }
    }

    /** A scheduled task runs after the network was looked at, an executed one perhaps before. */
    private void scheduleTurn(EventLoop loop) {
        // it is never canceled, and does not throw
        Future<?> unused = loop.schedule(() -> takeTurn(loop), 0, TimeUnit.NANOSECONDS);
        turn = true;
    }

    private void takeTurn(EventLoop loop) {
        turn = false;
        if (!waiting.isEmpty()) {
            // before a part that may throw
            scheduleTurn(loop);
        }
        boolean made = false;
        while (!made && !waiting.isEmpty()) {
            made = next().getAsBoolean();
        }
    }

    private BooleanSupplier next() {
        Iterator<Map.Entry<String, Queue<BooleanSupplier>>> networks =
                waiting.entrySet().iterator();
        Map.Entry<String, Queue<BooleanSupplier>> first = networks.next();
        networks.remove();
        BooleanSupplier part = first.getValue().remove();
        if (!first.getValue().isEmpty()) {
            waiting.put(first.getKey(), first.getValue());
        }
        return part;
    }
}
