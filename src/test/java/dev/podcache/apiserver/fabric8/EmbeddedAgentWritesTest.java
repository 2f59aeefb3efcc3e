package dev.podcache.apiserver.fabric8;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.testing.HttpAgentWritesContract;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import org.junit.jupiter.api.extension.ExtendWith;

/** The ports of a node agent over HTTP, to the embedded server. */
@ExtendWith(NoLeaks.class)
class EmbeddedAgentWritesTest extends HttpAgentWritesContract {

    EmbeddedAgentWritesTest() {
        super(new OwnAgentServer());
    }

    private static final class OwnAgentServer implements WrittenServer {

        private final Timekeeper timekeeper = Timekeeper.system();
        private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
        private final EmbeddedApiServer server = EmbeddedApiServer.start(cluster);

        @Override
        public Config config() {
            return new ConfigBuilder(Config.empty()).withMasterUrl(server.url()).build();
        }

        @Override
        public void close() {
            server.close();
            cluster.close();
            timekeeper.close();
        }
    }
}
