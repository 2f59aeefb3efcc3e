package dev.podcache.store;

import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Secret;

/** One watch for the namespace under real threads, to which objects join and which they leave all the time. */
class NamespaceScopeConcurrencyTest extends WatchStoreConcurrencyTest {

    @Override
    WatchObjectStore<Secret> store(FakeApiServer server, Timekeeper timekeeper) {
        return WatchObjectStore.ofNamespaces(
                ObjectKind.SECRET,
                key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                server.inNamespace(ObjectKind.SECRET),
                server.getter(ObjectKind.SECRET),
                StoreOptions.defaults(timekeeper),
                TIMES);
    }
}
