package dev.podcache.embedded;

import dev.podcache.testing.HttpStoreContract;
import dev.podcache.testing.NoLeaks;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract with one watch for each namespace, over the embedded server's HTTP. */
@ExtendWith(NoLeaks.class)
class NamespaceScopeOnEmbeddedServerTest extends HttpStoreContract {

    NamespaceScopeOnEmbeddedServerTest() {
        super(new OwnServer(), HttpStoreContract::watchNamespaces);
    }
}
