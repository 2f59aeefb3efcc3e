package dev.podcache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.josdk.PodcacheEventSource;
import dev.podcache.manager.Manager;
import dev.podcache.manager.ObjectCache;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.manager.ObjectEvent;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.testkit.FakePodcache;
import io.fabric8.kubernetes.api.model.Secret;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every public method by which something leaves a cache, found by reflection. Each is tried on an object that one owner holds
 * on behalf of a subject: while the subject may not get it, while it may, and after its right was revoked. A new public method
 * fails the first test until it has an entry here.
 */
@ExtendWith(NoLeaks.class)
@SuppressWarnings("try") // a subscription is only ended
class PayloadWaysTest {

    private static final Subject WEB = Subject.serviceAccount("shop", "web");
    private static final Referrer OWNER = ((Referrer) () -> "uid-1").onBehalfOf(WEB);
    private static final ObjectKey TLS = ObjectKey.of("shop", "tls");
    private static final List<Class<?>> TYPES = List.of(
            Manager.class,
            ObjectCache.class,
            Podcache.class,
            FakePodcache.class,
            ObjectEvent.class,
            ObjectEntry.class,
            ObjectState.class,
            PodcacheEventSource.class);

    /** Who may see the object by a way. */
    private enum For {
        /** The owner, while its subject may. */
        OWNER,
        /** Nobody: no owner without a subject holds it. */
        NOBODY
    }

    /** Tries a way; returns what it gives, which is searched for the object. */
    @FunctionalInterface
    private interface Attempted {
        @Nullable
        Object give(FakePodcache cache) throws Exception;
    }

    private record PayloadWay(String method, For who, Attempted way) {

        @Override
        public String toString() {
            return method;
        }
    }

    /** Methods that give no content, and those that only lead to another type of the list. */
    private static final Set<String> WITHOUT_CONTENT = Set.of(
            "Manager.registerPod(Pod)",
            "Manager.unregisterPod(Pod)",
            "Manager.register(Referrer, Set)",
            "Manager.unregister(Referrer)",
            "ObjectCache.registerPod(Pod)",
            "ObjectCache.unregisterPod(Pod)",
            "ObjectCache.register(Referrer, Set)",
            "ObjectCache.unregister(Referrer)",
            "ObjectCache.secrets()",
            "ObjectCache.configMaps()",
            "ObjectCache.objects(ObjectKind)",
            "ObjectCache.close()",
            "Podcache.builder(KubernetesClient)",
            "Podcache.builder(Fabric8ApiServer)",
            "FakePodcache.put(HasMetadata)",
            "FakePodcache.put(ObjectKind, HasMetadata)",
            "FakePodcache.remove(ObjectKind, String, String)",
            "FakePodcache.fail(ObjectKind, String, String, FailureReason)",
            "FakePodcache.deny(Subject, ObjectKind, String, String)",
            "FakePodcache.allow(Subject, ObjectKind, String, String)",
            "ObjectEvent.kind()",
            "ObjectEvent.key()",
            "ObjectEvent.type()",
            "ObjectEvent.referrers()",
            "ObjectEvent.initial()",
            "ObjectEntry.kind()",
            "ObjectEntry.key()",
            "ObjectEntry.state()",
            "ObjectEntry.cacheState()",
            "ObjectEntry.resourceVersion()",
            "ObjectEntry.uid()",
            "ObjectEntry.age()",
            "ObjectEntry.lastFailure()",
            "ObjectEntry.bytes()",
            "ObjectEntry.connection()",
            "ObjectEntry.referrers()",
            "ObjectEntry.usages(Referrer)",
            "ObjectState.cacheState()",
            "ObjectState.resourceVersion()",
            "ObjectState.age()",
            "ObjectState.lastFailure()",
            "ObjectState.references()",
            "ObjectState.freshness()",
            "ObjectState.unknown(String)",
            // PodcacheEventSource.getSecondaryResources is tried by FakeCacheEventSourceTest
            "PodcacheEventSource.of(EventSourceContext, ObjectCache, ObjectKind, Function)",
            "PodcacheEventSource.onBehalfOf(Function)",
            "PodcacheEventSource.start()",
            "PodcacheEventSource.stop()",
            "PodcacheEventSource.getStatus()",
            "PodcacheEventSource.changeNamespaces(Set)",
            "PodcacheEventSource.onResourceCreated(HasMetadata)",
            "PodcacheEventSource.onResourceUpdated(HasMetadata, HasMetadata)",
            "PodcacheEventSource.onResourceDeleted(HasMetadata)",
            "PodcacheEventSource.getSecondaryResources(HasMetadata)");

    private static Stream<PayloadWay> ways() {
        return Stream.of(
                way(
                        "Manager.getObject(String, String)",
                        For.NOBODY,
                        cache -> cache.secrets().getObject("shop", "tls")),
                way(
                        "Manager.getObject(String, String, ReadConsistency)",
                        For.NOBODY,
                        cache -> cache.secrets().getObject("shop", "tls", ReadConsistency.latest())),
                way(
                        "Manager.getObjectAsync(String, String)",
                        For.NOBODY,
                        cache -> cache.secrets().getObjectAsync("shop", "tls")),
                way(
                        "Manager.findObject(String, String)",
                        For.NOBODY,
                        cache -> cache.secrets().findObject("shop", "tls")),
                way(
                        "Manager.peek(String, String)",
                        For.NOBODY,
                        cache -> cache.secrets().peek("shop", "tls")),
                way(
                        "Manager.getObjects(Set)",
                        For.NOBODY,
                        cache -> cache.secrets().getObjects(Set.of(TLS))),
                way(
                        "Manager.state(String, String)",
                        For.NOBODY,
                        cache -> cache.secrets().state("shop", "tls")),
                way(
                        "Manager.getObject(Referrer, String, String)",
                        For.OWNER,
                        cache -> cache.secrets().getObject(OWNER, "shop", "tls")),
                way(
                        "Manager.getObject(Referrer, String, String, ReadConsistency)",
                        For.OWNER,
                        cache -> cache.secrets()
                                .getObject(OWNER, "shop", "tls", ReadConsistency.maxAge(Duration.ofHours(1)))),
                way(
                        "Manager.getObjectAsync(Referrer, String, String)",
                        For.OWNER,
                        cache -> cache.secrets().getObjectAsync(OWNER, "shop", "tls")),
                way(
                        "Manager.findObject(Referrer, String, String)",
                        For.OWNER,
                        cache -> cache.secrets().findObject(OWNER, "shop", "tls")),
                way(
                        "Manager.peek(Referrer, String, String)",
                        For.OWNER,
                        cache -> cache.secrets().peek(OWNER, "shop", "tls")),
                way(
                        "Manager.getObjects(Referrer, Set)",
                        For.OWNER,
                        cache -> cache.secrets().getObjects(OWNER, Set.of(TLS))),
                way("Manager.listen(Executor, Consumer)", For.OWNER, PayloadWaysTest::listened),
                way("Manager.listen(Executor, Duration, BiConsumer)", For.OWNER, cache -> {
                    List<Object> told = new ArrayList<>();
                    try (AutoCloseable unused = cache.secrets()
                            .listen(Runnable::run, Duration.ofMillis(1), (owner, events) -> told.addAll(events))) {
                        cache.put(Secrets.of(TLS, "v2"));
                        cache.awaitSynced(Duration.ofSeconds(1));
                        cache.fail(ObjectKind.SECRET, "shop", "x", FailureReason.TIMEOUT);
                        cache.remove(ObjectKind.SECRET, "shop", "x");
                    }
                    return told;
                }),
                way(
                        "ObjectEvent.current()",
                        For.OWNER,
                        cache -> listened(cache).stream()
                                .map(ObjectEvent::current)
                                .toList()),
                way(
                        "ObjectEvent.previous()",
                        For.OWNER,
                        cache -> listened(cache).stream()
                                .map(ObjectEvent::previous)
                                .toList()),
                way("ObjectCache.entries()", For.NOBODY, ObjectCache::entries),
                way("ObjectCache.stats()", For.NOBODY, ObjectCache::stats),
                way(
                        "ObjectCache.awaitSynced(Duration)",
                        For.NOBODY,
                        cache -> cache.awaitSynced(Duration.ofSeconds(1))));
    }

    private static PayloadWay way(String method, For who, Attempted way) {
        return new PayloadWay(method, who, way);
    }

    private static List<ObjectEvent<Secret>> listened(FakePodcache cache) throws Exception {
        List<ObjectEvent<Secret>> told = new ArrayList<>();
        try (AutoCloseable unused = cache.secrets().listen(Runnable::run, told::add)) {
            cache.put(Secrets.of(TLS, "v2"));
        }
        return told;
    }

    private static FakePodcache cache() {
        FakePodcache cache = new FakePodcache();
        cache.put(Secrets.of(TLS, "v1"));
        return cache;
    }

    private static void register(FakePodcache cache) {
        cache.register(OWNER, Set.of(ObjectRef.of(ObjectKind.SECRET, TLS)));
    }

    @Test
    void publicMethods_allHaveAnEntry() {
        Set<String> known = new TreeSet<>(WITHOUT_CONTENT);
        ways().forEach(entry -> known.add(entry.method));
        Map<String, Method> found = new TreeMap<>();
        for (Class<?> type : TYPES) {
            for (Method method : type.getDeclaredMethods()) {
                boolean ours = Modifier.isPublic(method.getModifiers()) && !method.isSynthetic();
                if (ours && !isOfObject(method) && !isOfSupertype(type, method)) {
                    found.put(signature(type, method), method);
                }
            }
        }

        assertThat(known).isEqualTo(found.keySet());
    }

    private static boolean isOfObject(Method method) {
        return List.of("toString", "equals", "hashCode").contains(method.getName());
    }

    /** Returns whether a type of the list declares it already. */
    private static boolean isOfSupertype(Class<?> type, Method method) {
        return TYPES.stream()
                .filter(other -> other != type && other.isAssignableFrom(type))
                .flatMap(other -> Arrays.stream(other.getDeclaredMethods()))
                .anyMatch(other -> signature(type, other).equals(signature(type, method)));
    }

    private static String signature(Class<?> type, Method method) {
        return type.getSimpleName() + "." + method.getName() + "("
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", "))
                + ")";
    }

    @ParameterizedTest
    @MethodSource("ways")
    void way_givesNothing_whileTheSubjectMayNot(PayloadWay entry) throws Exception {
        try (FakePodcache cache = cache()) {
            cache.deny(WEB, ObjectKind.SECRET, "shop", "tls");
            register(cache);

            assertThat(seen(entry, cache)).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void way_givesTheObject_onlyToTheOwnerThatMay(PayloadWay entry) throws Exception {
        try (FakePodcache cache = cache()) {
            register(cache);

            assertThat(seen(entry, cache).isEmpty()).isEqualTo(entry.who == For.NOBODY);
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void way_givesNothing_afterTheRightWasRevoked(PayloadWay entry) throws Exception {
        try (FakePodcache cache = cache()) {
            register(cache);
            assertThat(cache.secrets().peek(OWNER, "shop", "tls")).isPresent();
            cache.deny(WEB, ObjectKind.SECRET, "shop", "tls");

            assertThat(seen(entry, cache)).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void way_givesNothing_toAnOwnerOnBehalfOfNobody(PayloadWay entry) throws Exception {
        try (FakePodcache cache = cache()) {
            cache.register(OWNER.onBehalfOf(null), Set.of(ObjectRef.of(ObjectKind.SECRET, TLS)));

            assertThat(seen(entry, cache)).isEmpty();
        }
    }

    private static List<Secret> seen(PayloadWay entry, FakePodcache cache) throws Exception {
        List<Secret> seen = new ArrayList<>();
        try {
            collect(entry.way.give(cache), seen);
        } catch (ObjectUnavailableException | IllegalArgumentException e) {
            assertThat(e.toString()).doesNotContain("v1").doesNotContain("v2");
        }
        return seen;
    }

    private static void collect(@Nullable Object given, List<Secret> seen) {
        if (given instanceof Secret secret) {
            seen.add(secret);
        } else if (given instanceof Optional<?> optional) {
            collect(optional.orElse(null), seen);
        } else if (given instanceof Collection<?> all) {
            all.forEach(each -> collect(each, seen));
        } else if (given instanceof Map<?, ?> map) {
            collect(map.values(), seen);
        } else if (given instanceof ObjectEvent<?> event) {
            collect(event.current(), seen);
            collect(event.previous(), seen);
        } else if (given instanceof CompletableFuture<?> future) {
            collect(future.isCompletedExceptionally() ? null : future.join(), seen);
        } else if (given != null) {
            assertThat(Objects.toString(given)).doesNotContain("v1").doesNotContain("v2");
        }
    }
}
