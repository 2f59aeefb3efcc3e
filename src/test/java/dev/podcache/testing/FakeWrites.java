package dev.podcache.testing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.apiserver.EventApi;
import dev.podcache.apiserver.Freshness;
import dev.podcache.apiserver.LeaseApi;
import dev.podcache.apiserver.NodeApi;
import dev.podcache.apiserver.PodStatusApi;
import dev.podcache.embedded.ApiRequest;
import dev.podcache.embedded.DeleteOptions;
import dev.podcache.embedded.Part;
import dev.podcache.embedded.PatchBody;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Verb;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** The ports that a node agent writes to, of one kind, over the cluster of a {@link FakeApiServer}. */
final class FakeWrites<T extends HasMetadata> {

    private static final ObjectMapper MAPPER =
            JsonMapper.builder().findAndAddModules().build();

    private final FakeApiServer server;
    private final ObjectKind<T> kind;
    private final Resource resource;
    private final Duration timeout;

    FakeWrites(FakeApiServer server, ObjectKind<T> kind, Duration timeout) {
        this.server = server;
        this.kind = kind;
        this.resource = Resource.of(kind.model());
        this.timeout = timeout;
    }

    static NodeApi nodes(FakeApiServer server, Duration timeout) {
        FakeWrites<Node> nodes = new FakeWrites<>(server, ObjectKind.NODE, timeout);
        return new NodeApi() {
            @Override
            public CompletableFuture<Node> get(String name) {
                return nodes.get(ObjectKey.of("", name));
            }

            @Override
            public CompletableFuture<Node> create(Node node) {
                return nodes.create(node);
            }

            @Override
            public CompletableFuture<Node> patchStatus(String name, String patch) {
                return nodes.patch(ObjectKey.of("", name), Part.STATUS, patch);
            }
        };
    }

    static LeaseApi leases(FakeApiServer server, Duration timeout) {
        FakeWrites<Lease> leases = new FakeWrites<>(server, ObjectKind.LEASE, timeout);
        return new LeaseApi() {
            @Override
            public CompletableFuture<Lease> get(ObjectKey key) {
                return leases.get(key);
            }

            @Override
            public CompletableFuture<Lease> create(Lease lease) {
                return leases.create(lease);
            }

            @Override
            public CompletableFuture<Lease> update(Lease lease) {
                return leases.update(lease);
            }
        };
    }

    static PodStatusApi pods(FakeApiServer server, Duration timeout) {
        FakeWrites<Pod> pods = new FakeWrites<>(server, ObjectKind.POD, timeout);
        return new PodStatusApi() {
            @Override
            public CompletableFuture<Pod> get(ObjectKey key) {
                return pods.get(key);
            }

            @Override
            public CompletableFuture<Pod> patchStatus(ObjectKey key, String patch) {
                return pods.patch(key, Part.STATUS, patch);
            }

            @Override
            public CompletableFuture<Pod> delete(ObjectKey key, String uid) {
                return pods.delete(key, uid);
            }
        };
    }

    static EventApi events(FakeApiServer server, Duration timeout) {
        FakeWrites<Event> events = new FakeWrites<>(server, ObjectKind.EVENT, timeout);
        return new EventApi() {
            @Override
            public CompletableFuture<Event> create(Event event) {
                return events.create(event);
            }

            @Override
            public CompletableFuture<Event> patch(ObjectKey key, String patch) {
                return events.patch(key, Part.OBJECT, patch);
            }
        };
    }

    private CompletableFuture<T> get(ObjectKey key) {
        server.record(new FakeApiServer.Action(Verb.GET, kind, key, Freshness.LATEST));
        return answer(Verb.GET, key, () -> server.cluster().get(resource, key, ""));
    }

    private CompletableFuture<T> create(T object) {
        return send(
                Verb.CREATE,
                keyOf(object),
                json(object),
                body -> server.cluster().create(resource, keyOf(object).namespace(), body));
    }

    private CompletableFuture<T> update(T object) {
        return send(
                Verb.UPDATE,
                keyOf(object),
                json(object),
                body -> server.cluster().update(resource, keyOf(object), Part.OBJECT, body));
    }

    private CompletableFuture<T> patch(ObjectKey key, Part part, String patch) {
        return send(
                Verb.PATCH,
                key,
                patch,
                body -> server.cluster().patch(resource, key, part, new PatchBody(PatchBody.Type.STRATEGIC, body)));
    }

    private CompletableFuture<T> delete(ObjectKey key, String uid) {
        server.record(new FakeApiServer.Action(Verb.DELETE, kind, key, null));
        return answer(Verb.DELETE, key, () -> server.cluster().delete(resource, key, new DeleteOptions(0L, uid, null)));
    }

    private interface Write {
        ObjectNode apply(ObjectNode body);
    }

    private CompletableFuture<T> send(Verb verb, ObjectKey key, String json, Write write) {
        server.record(new FakeApiServer.Action(verb, kind, key, null));
        server.recordSent(new FakeApiServer.Sent(verb, kind, key, json));
        return answer(verb, key, () -> write.apply(tree(json)));
    }

    private CompletableFuture<T> answer(Verb verb, ObjectKey key, Supplier<ObjectNode> reading) {
        return new FakeCall<>(
                        server,
                        new ApiRequest(verb, resource, key),
                        () -> FakeGetter.fetched(kind, reading.get()).object())
                .answer(timeout);
    }

    private static ObjectKey keyOf(HasMetadata object) {
        String namespace = object.getMetadata().getNamespace();
        return ObjectKey.of(
                namespace == null ? "" : namespace, object.getMetadata().getName());
    }

    private static ObjectNode tree(String json) {
        try {
            return (ObjectNode) MAPPER.readTree(json);
        } catch (JsonProcessingException e) {
            throw new AssertionError("no JSON was sent: " + json, e);
        }
    }

    private static String json(Object object) {
        try {
            return MAPPER.writeValueAsString(object);
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }
}
