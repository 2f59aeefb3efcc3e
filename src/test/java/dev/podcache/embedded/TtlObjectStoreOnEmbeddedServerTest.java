package dev.podcache.embedded;

import dev.podcache.testing.HttpStoreContract;
import dev.podcache.testing.NoLeaks;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract over the embedded server's HTTP. */
@ExtendWith(NoLeaks.class)
class TtlObjectStoreOnEmbeddedServerTest extends HttpStoreContract {

    TtlObjectStoreOnEmbeddedServerTest() {
        super(new OwnServer(), HttpStoreContract::ttl);
    }
}
