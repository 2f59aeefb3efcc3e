package dev.podcache.store;

import dev.podcache.testing.ManualTimekeeper;

/** The contract with one watch for each namespace. */
class NamespaceScopeContractTest extends FakeServerStoreContract {

    NamespaceScopeContractTest() {
        super(WatchFixture.ofNamespaces(new ManualTimekeeper()));
    }
}
