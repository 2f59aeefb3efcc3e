package dev.podcache.chaos;

import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.TcpProxy;
import java.time.Duration;
import java.util.List;

/** What goes wrong with the programs of a real API server. */
final class ServerFaults {

    /** So long after the end of a fault the API server itself may be behind its storage. */
    private static final Duration SETTLED_AFTER = Duration.ofSeconds(12);

    private final World world;
    private final RealApiServer server;
    private final TcpProxy proxy;

    ServerFaults(World world, RealApiServer server, TcpProxy proxy) {
        this.world = world;
        this.server = server;
        this.proxy = proxy;
    }

    List<ChaosFault> all() {
        return List.of(
                fault("API server killed", 4_000, ChaosFault.by(this::killApiServer, server.apiServer()::start))
                        .leavingBehind(SETTLED_AFTER),
                fault("etcd killed", 4_000, ChaosFault.by(server.etcd()::kill, server.etcd()::start))
                        .leavingBehind(SETTLED_AFTER),
                fault(
                        "API server stopped",
                        4_000,
                        ChaosFault.by(server.apiServer()::pause, server.apiServer()::resume)),
                fault("etcd stopped", 2_000, ChaosFault.by(server.etcd()::pause, server.etcd()::resume)),
                fault("etcd compacted", 300, ChaosFault.by(this::compact, () -> {})));
    }

    private static ChaosFault fault(String kind, int longest, ChaosFault.Strike strike) {
        return new ChaosFault(ChaosFault.Layer.SERVER, kind, 100, longest, strike);
    }

    private void killApiServer() {
        server.apiServer().kill();
        world.watches.allEnded(world.time.now());
    }

    private void compact() {
        server.compact();
        // who is connected already would not notice
        proxy.reset();
    }
}
