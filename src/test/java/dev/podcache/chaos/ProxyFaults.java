package dev.podcache.chaos;

import dev.podcache.testing.TcpProxy;
import dev.podcache.testing.TcpProxy.Connection;
import dev.podcache.testing.TcpProxy.Direction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** What goes wrong between the caches and their server. */
final class ProxyFaults {

    private final TcpProxy proxy;

    ProxyFaults(TcpProxy proxy) {
        this.proxy = proxy;
    }

    List<Fault> all(boolean lengthy) {
        List<Fault> faults = new ArrayList<>(List.of(
                untilCalm("all connections frozen", 6_000, random -> freezeAll()),
                untilCalm("open connections frozen", 6_000, random -> proxy.freeze()),
                untilCalm("one connection frozen", 6_000, random -> one(random, this::freeze)),
                untilCalm("new connections frozen", 4_000, random -> freezeNew()),
                untilCalm("requests frozen", 5_000, random -> proxy.freeze(Direction.TO_SERVER)),
                untilCalm("answers frozen", 5_000, random -> proxy.freeze(Direction.TO_CLIENT)),
                untilCalm("all connections reset", 300, random -> proxy.reset()),
                untilCalm("one connection reset", 300, random -> one(random, Connection::reset)),
                untilCalm("delayed", 5_000, random -> proxy.delay(Duration.ofMillis(random.nextInt(20, 1_500)))),
                untilCalm("throttled", 5_000, random -> proxy.throttle(random.nextInt(1_000, 50_000))),
                untilCalm("cut after some bytes", 4_000, random -> proxy.cutAfter(random.nextInt(1, 20_000))),
                untilCalm("connections refused", 4_000, random -> refuse())));
        if (lengthy) {
            faults.add(new Fault(Fault.Layer.NETWORK, "frozen for long", 12_000, 25_000, random -> {
                if (random.nextBoolean()) {
                    proxy.freezeNew();
                }
                proxy.freeze();
                return proxy::calm;
            }));
        }
        return faults;
    }

    private Fault untilCalm(String kind, int longest, Consumer<SplittableRandom> strike) {
        return new Fault(Fault.Layer.NETWORK, kind, 300, longest, random -> {
            strike.accept(random);
            return proxy::calm;
        });
    }

    private void one(SplittableRandom random, Consumer<Connection> fault) {
        List<Connection> open = proxy.connections();
        if (!open.isEmpty()) {
            fault.accept(open.get(random.nextInt(open.size())));
        }
    }

    private void freeze(Connection connection) {
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
