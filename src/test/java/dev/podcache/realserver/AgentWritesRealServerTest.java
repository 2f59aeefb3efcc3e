package dev.podcache.realserver;

import dev.podcache.testing.HttpAgentWritesContract;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import org.junit.jupiter.api.extension.ExtendWith;

/** The ports of a node agent against kube-apiserver itself. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class AgentWritesRealServerTest extends HttpAgentWritesContract {

    AgentWritesRealServerTest() {
        super(RealApiServer.shared()::config);
    }
}
