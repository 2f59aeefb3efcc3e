package dev.podcache.testing;

import static com.google.common.collect.ImmutableList.toImmutableList;

import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.embedded.ApiRequest;
import dev.podcache.embedded.ObjectList;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Selection;
import dev.podcache.embedded.Verb;
import dev.podcache.embedded.WatchOptions;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** The implementation of {@link FakeApiServer#listerWatcher}. */
final class FakeListerWatcher<T extends HasMetadata> implements ListerWatcher<T> {

    private final FakeApiServer server;
    private final ObjectKind<T> kind;
    private final ObjectKey key;
    private final Selection selection;

    FakeListerWatcher(FakeApiServer server, ObjectKind<T> kind, ObjectKey key, Selection selection) {
        this.server = server;
        this.kind = kind;
        this.key = key;
        this.selection = selection;
    }

    @Override
    public CompletableFuture<Listed<T>> list(Duration timeout) {
        server.record(new FakeApiServer.Action(Verb.LIST, kind, key, null));
        return new FakeCall<>(server, request(Verb.LIST), this::listed).answer(timeout);
    }

    private Listed<T> listed() {
        ObjectList list = server.cluster().list(resource(), selection, "");
        return new Listed<>(
                list.items().stream()
                        .map(json -> FakeGetter.fetched(kind, json))
                        .collect(toImmutableList()),
                list.resourceVersion());
    }

    @Override
    public boolean streamsLists() {
        return server.streamsLists() && !key.name().isEmpty();
    }

    @Override
    public WatchHandle streamList(Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        server.record(new FakeApiServer.Action(Verb.WATCH, kind, key, ReadSource.QUORUM));
        return open(new WatchOptions("", true, true, serverTimeout), events);
    }

    @Override
    public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<T>> events) {
        server.record(new FakeApiServer.Action(Verb.WATCH, kind, key, null));
        return open(new WatchOptions(resourceVersion, true, serverTimeout), events);
    }

    private WatchHandle open(WatchOptions options, Consumer<WatchEvent<T>> events) {
        FakeWatch<T> watch = new FakeWatch<>(server, kind, request(Verb.WATCH), events);
        new FakeCall<>(server, request(Verb.WATCH), () -> resource())
                .answer(options.timeout())
                .whenComplete((resource, failure) -> {
                    if (failure == null) {
                        watch.open(listener -> server.cluster().watch(resource, selection, options, listener));
                    } else {
                        watch.refuse(failure);
                    }
                });
        return watch;
    }

    private ApiRequest request(Verb verb) {
        return new ApiRequest(verb, resource(), key);
    }

    private Resource resource() {
        return Resource.of(kind.model());
    }

    @Override
    public String toString() {
        return kind.plural() + (key.name().isEmpty() ? "" : " with metadata.name=" + key.name());
    }
}
