package dev.podcache.realserver;

import dev.podcache.testing.HttpAgentWritesContract;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import org.junit.jupiter.api.extension.ExtendWith;

/** The ports of a node agent against kube-apiserver itself. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class AgentWritesRealServerTest extends HttpAgentWritesContract {

    AgentWritesRealServerTest() {
        super(new Real());
    }

    private static final class Real implements WrittenServer {

        @Override
        public Config config() {
            return RealApiServer.shared().config();
        }

        @Override
        public void createNamespace(KubernetesClient admin, String name) {
            RealApiServer.shared().createNamespace(name);
        }
    }
}
