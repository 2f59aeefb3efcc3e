package dev.podcache.cli.demo;

import com.google.common.collect.ImmutableMap;
import com.google.common.io.Closer;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.cli.observe.Audience;
import dev.podcache.cli.observe.Changes;
import dev.podcache.cli.observe.Counts;
import dev.podcache.cli.observe.Figures;
import dev.podcache.cli.observe.Observer;
import dev.podcache.cli.observe.ObserverOptions;
import dev.podcache.cli.observe.ReadsInOutage;
import dev.podcache.cli.output.Account;
import dev.podcache.cli.output.Event;
import dev.podcache.embedded.Faults;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * One strategy's side of the demo: an agent on an API server of its own, so that what it costs is counted apart. All
 * sides have the same cluster, workload and changes.
 */
final class DemoSide implements AutoCloseable {

    private final Closer parts = Closer.create();
    private final DemoServer server;
    private final Account account;
    private final Changes changes;
    private final Observer agent;
    private final Lookout lookout;
    private Faults.@Nullable Switched failure;
    private int connectionsAtEnd;
    private int watchesAtEnd;
    private Counts beforeFailure = Counts.NONE;
    private @Nullable ReadsInOutage outage;

    /** A side whose agent does nothing yet, and tells {@code account}. */
    DemoSide(DemoCluster cluster, ObserverOptions options, Account account) {
        this.account = account;
        this.server = new DemoServer(cluster);
        parts.register(server::close);
        KubernetesClient client = server.client();
        parts.register(client);
        Fabric8ApiServer apiServer = Fabric8ApiServer.of(client);
        parts.register(apiServer::close);
        this.changes = new Changes(account, account::seconds);
        this.agent = new Observer(apiServer, options, new Audience(account, changes, server::requests));
        parts.register(agent::close);
        this.lookout = new Lookout(agent, changes);
        parts.register(lookout::close);
    }

    ChangeDetectionStrategy strategy() {
        return agent.strategy();
    }

    Account account() {
        return account;
    }

    DemoServer server() {
        return server;
    }

    Observer agent() {
        return agent;
    }

    Changes changes() {
        return changes;
    }

    /** The object has been changed: from now on it is read until that is seen. */
    void lookFor(ObjectKind<?> kind, ObjectKey key) {
        lookout.lookFor(kind, key);
    }

    /** The server answers nothing from now on. */
    void fail() {
        beforeFailure = agent.counts();
        failure = server.cutOff();
    }

    /** It is back. Without effect if it did not fail. */
    void recover() {
        if (failure != null) {
            outage = new ReadsInOutage(agent.counts().since(beforeFailure), agent.podsKeptWaiting());
            failure.close();
            failure = null;
        }
    }

    /** What became of reads while the server failed; null if that is not behind us. */
    @Nullable
    ReadsInOutage outage() {
        return outage;
    }

    /** Tells how many connections there are, and for how many watches. */
    Event connections() {
        int connections = server.connections();
        int watches = server.watches();
        // without TLS nothing else than HTTP/2 by prior knowledge lets watches share a connection
        String shared = watches > connections ? " share them: HTTP/2 without TLS (h2c)" : "";
        return new Event(
                "connections",
                connections + " open; " + watches + " watches" + shared,
                ImmutableMap.of("connections", connections, "openWatches", watches));
    }

    /** Nothing is read, counted or told from now on. */
    void stop() {
        // before the agent lets go of the first of them
        connectionsAtEnd = server.connections();
        watchesAtEnd = server.watches();
        lookout.close();
        agent.stop();
    }

    /** What this side has cost and brought, to be asked for when it is {@linkplain #stop stopped}. */
    Figures figures() {
        return new Figures(
                strategy(),
                agent.counts().reads(),
                server.requestsByVerb(),
                connectionsAtEnd,
                watchesAtEnd,
                changes.seenAfter(),
                outage);
    }

    @Override
    public void close() {
        try {
            parts.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
