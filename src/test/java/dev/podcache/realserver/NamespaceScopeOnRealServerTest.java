package dev.podcache.realserver;

import dev.podcache.testing.HttpStoreContract;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract with one watch for each namespace, on a kube-apiserver. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class NamespaceScopeOnRealServerTest extends HttpStoreContract {

    NamespaceScopeOnRealServerTest() {
        super(RealApiServer.shared()::client, HttpStoreContract::watchNamespaces);
    }
}
