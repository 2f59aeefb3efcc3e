package dev.podcache.store;

/** The contract under strategy WATCH. */
class WatchObjectStoreContractTest extends FakeServerStoreContract {

    WatchObjectStoreContractTest() {
        super(new WatchFixture());
    }
}
