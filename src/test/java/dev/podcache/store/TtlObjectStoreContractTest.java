package dev.podcache.store;

/** The contract under strategy CACHE. */
class TtlObjectStoreContractTest extends FakeServerStoreContract {

    TtlObjectStoreContractTest() {
        super(new TtlFixture());
    }
}
