package dev.podcache.chaos;

import dev.podcache.testing.TcpProxy;
import java.util.ArrayList;
import java.util.List;

/** What goes wrong between the caches and their server. */
final class ProxyFaults {

    private final TcpProxy proxy;

    ProxyFaults(TcpProxy proxy) {
        this.proxy = proxy;
    }

    List<Fault> all(boolean lengthy) {
        List<Fault> faults = new ArrayList<>(List.of(
                Fault.of("all connections frozen", 300, 6_000, this::freezeAll, proxy::thaw),
                Fault.of("open connections frozen", 300, 6_000, proxy::freeze, proxy::thaw),
                Fault.of("new connections frozen", 300, 4_000, this::freezeNew, proxy::thaw),
                Fault.of("all connections reset", 100, 300, proxy::reset, () -> {})));
        if (lengthy) {
            faults.add(Fault.of("all connections frozen for long", 12_000, 25_000, this::freezeAll, proxy::thaw));
            faults.add(Fault.of("open connections frozen for long", 21_000, 25_000, proxy::freeze, proxy::thaw));
        }
        return faults;
    }

    private void freezeAll() {
        proxy.freezeNew();
        proxy.freeze();
    }

    private void freezeNew() {
        proxy.freezeNew();
        proxy.reset();
    }
}
