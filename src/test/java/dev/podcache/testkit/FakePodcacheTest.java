package dev.podcache.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.manager.Manager;
import dev.podcache.manager.ObjectEvent;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.object.Referrer;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(NoLeaks.class)
class FakePodcacheTest {

    private static final Referrer OWNER = () -> "uid-1";

    private final FakePodcache cache = new FakePodcache();
    private final Manager<Secret> secrets = cache.secrets();

    @AfterEach
    void close() {
        cache.close();
    }

    @Test
    void object_thatWasPut_isReadByItsOwners() {
        cache.put(Secrets.of("shop", "db", "v1"));
        assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> secrets.getObject("shop", "db"));

        cache.registerPod(Pods.withSecrets("shop", "web", "uid-web", List.of("db")));

        assertThat(value()).isEqualTo("v1");
        assertThat(secrets.getObject("shop", "db")).isSameAs(secrets.getObject("shop", "db"));
        assertThat(cache.entries()).hasSize(1);

        cache.unregisterPod(Pods.withSecrets("shop", "web", "uid-web", List.of("db")));
        assertThat(cache.entries()).isEmpty();
    }

    @Test
    void secret_withStringData_isReadAsAServerStoresIt() {
        register("db");

        cache.put(new SecretBuilder(Secrets.of("shop", "db", "v1"))
                .addToData("other", "b2xk")
                .withStringData(Map.of("other", "new"))
                .withType(null)
                .build());

        Secret read = secrets.getObject("shop", "db");
        assertThat(value()).isEqualTo("v1");
        assertThat(read.getData()).containsEntry("other", "bmV3").hasSize(3);
        assertThat(read.getStringData()).isNullOrEmpty();
        assertThat(read.getType()).isEqualTo("Opaque");

        cache.put(new SecretBuilder(read)
                .withData(null)
                .withType("example.dev/key")
                .build());
        read = secrets.getObject("shop", "db");
        assertThat(read.getData()).isNullOrEmpty();
        assertThat(read.getType()).isEqualTo("example.dev/key");
    }

    @Test
    void change_isSeenAtOnce() {
        register("db");
        assertThatExceptionOfType(NotFound.class).isThrownBy(() -> secrets.getObject("shop", "db"));

        cache.put(Secrets.of("shop", "db", "v1"));
        assertThat(value()).isEqualTo("v1");
        String uid = secrets.getObject("shop", "db").getMetadata().getUid();

        cache.put(Secrets.of("shop", "db", "v2"));
        assertThat(value()).isEqualTo("v2");
        assertThat(secrets.getObject("shop", "db").getMetadata().getUid()).isEqualTo(uid);

        cache.remove(ObjectKind.SECRET, "shop", "db");
        cache.remove(ObjectKind.SECRET, "shop", "db");
        assertThatExceptionOfType(NotFound.class).isThrownBy(() -> secrets.getObject("shop", "db"));
    }

    @Test
    void listener_isToldOfEachChange(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        List<String> told = new ArrayList<>();
        secrets.listen(Runnable::run, event -> told.add(event.type() + " " + event.key() + " " + event.referrers()));
        register("db");
        cache.put(Secrets.of("shop", "other", "v1"));
        cache.put(Secrets.of("shop", "db", "v1"));
        cache.put(Secrets.of("shop", "db", "v2"));
        cache.fail(ObjectKind.SECRET, "shop", "db", FailureReason.UNAVAILABLE);
        cache.remove(ObjectKind.SECRET, "shop", "db");

        String owners = Set.of(OWNER).toString();
        assertThat(told)
                .containsExactly(
                        "ADDED shop/db " + owners,
                        "UPDATED shop/db " + owners,
                        "STALE shop/db " + owners,
                        "DELETED shop/db " + owners,
                        "RECOVERED shop/db " + owners);
    }

    @Test
    void listener_thatGathers_isToldOfEachChangeToo(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("failed; retrying: ");
        List<String> told = new ArrayList<>();
        AutoCloseable listening = secrets.listen(
                Runnable::run,
                Duration.ofSeconds(30),
                (owner, events) -> events.forEach(event -> told.add(event.type().name())));
        cache.put(Secrets.of("shop", "there", "v1"));

        cache.register(
                OWNER,
                Set.of(
                        ObjectRef.of(ObjectKind.SECRET, "shop", "db"),
                        ObjectRef.of(ObjectKind.SECRET, "shop", "there")));
        assertThat(told).containsExactly("ADDED");
        cache.put(Secrets.of("shop", "db", "v1"));
        cache.fail(ObjectKind.SECRET, "shop", "db", FailureReason.UNAVAILABLE);
        assertThat(told).containsExactly("ADDED", "ADDED", "STALE");
        cache.put(Secrets.of("shop", "db", "v2"));
        assertThat(told.subList(3, told.size())).containsExactlyInAnyOrder("UPDATED", "RECOVERED");
        cache.remove(ObjectKind.SECRET, "shop", "db");
        assertThat(told).last().isEqualTo("DELETED");
        assertThat(told).hasSize(6);
        listening.close();
    }

    @Test
    void listener_thatChangesObjects_isToldOfThemToo() {
        register("db", "copy");
        secrets.listen(Runnable::run, event -> copy(event));

        cache.put(Secrets.of("shop", "db", "v1"));

        assertThat(Secrets.value(secrets.getObject("shop", "copy"))).isEqualTo("v1");
    }

    private void copy(ObjectEvent<Secret> event) {
        if (event.key().name().equals("db")) {
            cache.put(Secrets.of("shop", "copy", Secrets.value(event.current().orElseThrow())));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = FailureReason.class,
            names = {"FORBIDDEN", "UNAVAILABLE", "UNAUTHORIZED", "THROTTLED", "TIMEOUT"})
    void failure_ofAnUnknownObject_isThrownAtOnce_untilItIsPut(FailureReason reason, NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        cache.fail(ObjectKind.SECRET, "shop", "db", reason);
        register("db");

        assertThatExceptionOfType(NotSynced.class)
                .isThrownBy(() -> secrets.getObject("shop", "db"))
                .satisfies(thrown -> assertThat(thrown.getCause())
                        .isInstanceOfSatisfying(
                                ApiServerException.class,
                                cause -> assertThat(cause.reason()).isEqualTo(reason)));

        cache.put(Secrets.of("shop", "db", "v1"));
        assertThat(value()).isEqualTo("v1");
    }

    @Test
    void failure_endsAReadWithoutBlocking_andOfSeveral_atOnce(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        cache.fail(ObjectKind.SECRET, "shop", "db", FailureReason.FORBIDDEN);
        register("db", "copy");

        assertThat(secrets.getObjectAsync("shop", "db"))
                .isCompletedExceptionally()
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(NotSynced.class);
        assertThatExceptionOfType(NotSynced.class)
                .isThrownBy(() -> secrets.getObjects(Set.of(ObjectKey.of("shop", "db"), ObjectKey.of("shop", "copy"))));
    }

    @Test
    void failure_ofAnObjectThatDidNotExist_doesNotSayThatItDoesNotExist(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        register("db");
        assertThat(secrets.findObject("shop", "db")).isEmpty();
        cache.fail(ObjectKind.SECRET, "shop", "db", FailureReason.FORBIDDEN);

        assertThatExceptionOfType(NotFound.class)
                .isThrownBy(() -> secrets.findObject("shop", "db"))
                .withMessageContaining("checking again failed");
        assertThatExceptionOfType(NotFound.class)
                .isThrownBy(() -> secrets.getObjects(Set.of(ObjectKey.of("shop", "db"))))
                .satisfies(thrown -> assertThat(ApiServerException.reasonOf(thrown.getCause()))
                        .isEqualTo(FailureReason.FORBIDDEN));

        cache.remove(ObjectKind.SECRET, "shop", "db");
        assertThat(secrets.findObject("shop", "db")).isEmpty();
    }

    @Test
    void failure_ofAKnownObject_makesItStale_untilItIsPut(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        cache.put(Secrets.of("shop", "db", "v1"));
        register("db");

        cache.fail(ObjectKind.SECRET, "shop", "db", FailureReason.UNAVAILABLE);
        assertThat(value()).isEqualTo("v1");
        assertThat(secrets.state("shop", "db").cacheState()).isEqualTo(CacheState.STALE);

        cache.put(Secrets.of("shop", "db", "v2"));
        assertThat(value()).isEqualTo("v2");
        assertThat(secrets.state("shop", "db").cacheState()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void kinds_ofAnySort_areServed() {
        ObjectKind<GenericKubernetesResource> widgets = ObjectKind.of("example.dev/v1", "Widget", "widgets", true);
        GenericKubernetesResource widget = new GenericKubernetesResource();
        widget.setMetadata(
                new ObjectMetaBuilder().withNamespace("shop").withName("round").build());
        cache.put(widgets, widget);
        cache.put(new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("settings")
                .endMetadata()
                .build());
        cache.put(new NodeBuilder()
                .withNewMetadata()
                .withName("worker-1")
                .endMetadata()
                .build());

        cache.register(
                OWNER,
                Set.of(
                        ObjectRef.of(widgets, "shop", "round"),
                        ObjectRef.of(ObjectKind.CONFIG_MAP, "shop", "settings"),
                        ObjectRef.of(ObjectKind.NODE, "", "worker-1")));

        assertThat(cache.objects(widgets).findObject("shop", "round")).isPresent();
        assertThat(cache.configMaps().findObject("shop", "settings")).isPresent();
        assertThat(cache.objects(ObjectKind.NODE).findObject("", "worker-1")).isPresent();
        cache.unregister(OWNER);
        assertThat(cache.entries()).isEmpty();
    }

    @Test
    void object_thatWasPut_isACopy() {
        Secret secret = Secrets.of("shop", "db", "v1");
        cache.put(secret);
        register("db");

        assertThat(secret.getMetadata().getResourceVersion()).isNull();
        assertThat(secrets.getObject("shop", "db")).isNotSameAs(secret);
    }

    @Test
    void illegalName_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> cache.put(Secrets.of("shop", "No Name", "v1")));
        assertThatIllegalArgumentException().isThrownBy(() -> cache.remove(ObjectKind.SECRET, "", "db"));
    }

    @Test
    void closedCache_endsReads_andTakesNothingNew() {
        cache.put(Secrets.of("shop", "db", "v1"));
        register("db");

        cache.close();
        cache.close();

        assertThatExceptionOfType(Closed.class).isThrownBy(() -> secrets.getObject("shop", "db"));
        assertThat(secrets.peek("shop", "db")).isEmpty();
        assertThat(cache.entries()).isEmpty();
        assertThatIllegalStateException().isThrownBy(() -> register("other"));
        assertThatIllegalStateException().isThrownBy(() -> secrets.listen(Runnable::run, event -> {}));
        assertThatIllegalStateException().isThrownBy(() -> cache.objects(ObjectKind.NODE));
    }

    @Test
    void closedCache_tellsItsListenersNothing() {
        List<String> told = new ArrayList<>();
        secrets.listen(Runnable::run, event -> told.add(event.type().name()));
        register("db");
        cache.put(Secrets.of("shop", "db", "v1"));

        cache.close();
        cache.put(Secrets.of("shop", "db", "v2"));

        assertThat(told).containsExactly("ADDED");
    }

    private void register(String... names) {
        secrets.register(
                OWNER,
                Set.of(names).stream().map(name -> ObjectKey.of("shop", name)).collect(Collectors.toSet()));
    }

    private String value() {
        return Secrets.value(secrets.getObject("shop", "db"));
    }
}
