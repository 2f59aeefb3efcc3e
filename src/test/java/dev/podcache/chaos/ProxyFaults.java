package dev.podcache.chaos;

import dev.podcache.testing.TcpProxy;
import dev.podcache.testing.TcpProxy.Direction;
import dev.podcache.testing.TcpProxy.ProxyConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** What goes wrong between the caches and their server. */
final class ProxyFaults {

    /** Long enough to see whether the caches say that they have lost their watches. */
    private static final int REFUSED_FOR =
            (int) Rules.LOSS_SEEN_WITHIN.plusMillis(600).toMillis();

    private final TcpProxy proxy;
    private final Duration deadWithin;

    /** Of connections that a cache gives up when they bring nothing for so long. */
    ProxyFaults(TcpProxy proxy, Duration deadWithin) {
        this.proxy = proxy;
        this.deadWithin = deadWithin;
    }

    List<ChaosFault> all(boolean lengthy) {
        List<ChaosFault> faults = new ArrayList<>(List.of(
                untilCalm("all connections frozen", 6_000, random -> freezeAll()),
                untilCalm("open connections frozen", 6_000, random -> proxy.freeze()),
                untilCalm("one connection frozen", 6_000, random -> one(random, this::freeze)),
                untilCalm("new connections frozen", 4_000, random -> freezeNew()),
                untilCalm("requests frozen", 5_000, random -> proxy.freeze(Direction.TO_SERVER)),
                untilCalm("answers frozen", 5_000, random -> proxy.freeze(Direction.TO_CLIENT)),
                untilCalm("all connections reset", 300, random -> proxy.reset()),
                untilCalm("one connection reset", 300, random -> one(random, ProxyConnection::reset)),
                untilCalm("delayed", 5_000, random -> proxy.delay(Duration.ofMillis(random.nextInt(20, 1_500)))),
                untilCalm("throttled", 5_000, random -> proxy.throttle(random.nextInt(1_000, 50_000))),
                untilCalm("cut after some bytes", 4_000, random -> proxy.cutAfter(random.nextInt(1, 20_000))),
                new ChaosFault(ChaosFault.Layer.NETWORK, "connections refused", REFUSED_FOR, 4_000, random -> {
                            refuse();
                            return proxy::calm;
                        })
                        .showing(Rules.LOSS_SEEN_WITHIN)));
        if (lengthy) {
            int shortest = (int) deadWithin.plus(Rules.SLACK).plusSeconds(2).toMillis();
            faults.add(new ChaosFault(
                            ChaosFault.Layer.NETWORK, "frozen for long", shortest, shortest + 10_000, random -> {
                                if (random.nextBoolean()) {
                                    proxy.freezeNew();
                                }
                                proxy.freeze();
                                return proxy::calm;
                            })
                    .showing(deadWithin.plus(Rules.SLACK)));
        }
        return faults;
    }

    private ChaosFault untilCalm(String kind, int longest, Consumer<SplittableRandom> strike) {
        return new ChaosFault(ChaosFault.Layer.NETWORK, kind, 300, longest, random -> {
            strike.accept(random);
            return proxy::calm;
        });
    }

    private void one(SplittableRandom random, Consumer<ProxyConnection> fault) {
        List<ProxyConnection> open = proxy.connections();
        if (!open.isEmpty()) {
            fault.accept(open.get(random.nextInt(open.size())));
        }
    }

    private void freeze(ProxyConnection connection) {
        connection.freeze(Direction.TO_SERVER);
        connection.freeze(Direction.TO_CLIENT);
    }

    private void freezeAll() {
        proxy.freezeNew();
        proxy.freeze();
    }

    private void freezeNew() {
        proxy.freezeNew();
        proxy.reset();
    }

    private void refuse() {
        proxy.refuse(true);
        proxy.reset();
    }
}
