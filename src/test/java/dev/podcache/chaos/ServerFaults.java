package dev.podcache.chaos;

import dev.podcache.testing.RealApiServer;
import java.util.List;

/** What goes wrong with the programs of a real API server. */
final class ServerFaults {

    private final RealApiServer server;

    ServerFaults(RealApiServer server) {
        this.server = server;
    }

    List<Fault> all() {
        return List.of(
                Fault.of("API server killed", 100, 4_000, server.apiServer()::kill, server.apiServer()::start),
                Fault.of("etcd killed", 100, 4_000, server.etcd()::kill, server.etcd()::start));
    }
}
