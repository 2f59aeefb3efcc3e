package dev.podcache.embedded;

import dev.podcache.testing.HttpStoreContract;
import dev.podcache.testing.NoLeaks;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract over the embedded server's HTTP. */
@ExtendWith(NoLeaks.class)
class WatchObjectStoreOnEmbeddedServerTest extends HttpStoreContract {

    WatchObjectStoreOnEmbeddedServerTest() {
        super(new OwnServer(), HttpStoreContract::watch);
    }
}
