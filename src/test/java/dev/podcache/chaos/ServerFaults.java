package dev.podcache.chaos;

import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.TcpProxy;
import java.util.List;

/** What goes wrong with the programs of a real API server. */
final class ServerFaults {

    private final RealApiServer server;
    private final TcpProxy proxy;

    ServerFaults(RealApiServer server, TcpProxy proxy) {
        this.server = server;
        this.proxy = proxy;
    }

    List<Fault> all() {
        return List.of(
                fault("API server killed", 4_000, Fault.by(server.apiServer()::kill, server.apiServer()::start)),
                fault("etcd killed", 4_000, Fault.by(server.etcd()::kill, server.etcd()::start)),
                fault("etcd compacted", 300, Fault.by(this::compact, () -> {})));
    }

    private static Fault fault(String kind, int longest, Fault.Strike strike) {
        return new Fault(Fault.Layer.SERVER, kind, 100, longest, strike);
    }

    private void compact() {
        server.compact();
        // who is connected already would not notice
        proxy.reset();
    }
}
