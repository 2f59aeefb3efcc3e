package dev.podcache.josdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.podcache.manager.ObjectEntry;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.testkit.FakePodcache;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.javaoperatorsdk.operator.health.Status;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.EventHandler;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The promises of the event source, with everything on one thread. */
@ExtendWith(NoLeaks.class)
class PodcacheEventSourceTest {

    private final FakePodcache cache = new FakePodcache();
    private final Map<String, Website> controllers = new LinkedHashMap<>(); // what the controller knows
    private final List<String> marked = new ArrayList<>();
    private final PodcacheEventSource<Secret, Website> source = new PodcacheEventSource<>(
            ObjectKind.SECRET,
            cache.secrets(),
            PodcacheEventSourceTest::references,
            () -> controllers.values().stream(),
            () -> Runnable::run);

    @BeforeEach
    void setHandler() {
        EventHandler handler =
                (Event event) -> marked.add(event.getRelatedCustomResourceID().getName());
        source.setEventHandler(handler);
    }

    @AfterEach
    void close() {
        source.stop();
        cache.close();
    }

    private static Set<ObjectRef> references(Website website) {
        return website.getSpec().secrets().stream()
                .map(name ->
                        ObjectRef.of(ObjectKind.SECRET, website.getMetadata().getNamespace(), name))
                .collect(Collectors.toSet());
    }

    @Test
    void change_reconcilesExactlyTheOwners() {
        start(website("one", 1, "db", "cert"), website("two", 2, "db"), website("three", 3, "other"));

        cache.put(Secrets.of("shop", "db", "v1"));
        assertThat(marked).containsExactlyInAnyOrder("one", "two");

        marked.clear();
        cache.put(Secrets.of("shop", "db", "v2"));
        assertThat(marked).containsExactlyInAnyOrder("one", "two");

        marked.clear();
        cache.remove(ObjectKind.SECRET, "shop", "db");
        assertThat(marked).containsExactlyInAnyOrder("one", "two");

        marked.clear();
        cache.put(Secrets.of("shop", "cert", "v1"));
        assertThat(marked).containsExactly("one");
    }

    @Test
    void secondaryResources_areThoseThatExist() {
        cache.put(Secrets.of("shop", "db", "v1"));
        Website one = website("one", 1, "db", "missing");
        start(one);

        assertThat(source.getSecondaryResources(one))
                .extracting(secret -> secret.getMetadata().getName())
                .containsExactly("db");
        assertThat(source.getSecondaryResource(one)).isPresent();
        assertThat(source.resourceType()).isEqualTo(Secret.class);
    }

    @Test
    void primaries_areRegisteredWhileTheyExistAndTheSourceRuns() {
        Website early = website("early", 1, "db");
        source.onResourceCreated(early);
        assertThat(held()).as("before the start").isEmpty();
        assertThat(source.getStatus()).isEqualTo(Status.UNHEALTHY);
        start(early);
        assertThat(source.getStatus()).isEqualTo(Status.HEALTHY);
        source.start();
        assertThat(held()).containsExactly("db");

        Website late = website("late", 2, "cert");
        source.onResourceCreated(late);
        assertThat(held()).containsExactlyInAnyOrder("db", "cert");

        source.onResourceUpdated(website("late", 3, "key"), late);
        assertThat(held()).containsExactlyInAnyOrder("db", "key");

        source.onResourceDeleted(early);
        assertThat(held()).containsExactly("key");

        source.stop();
        assertThat(held()).isEmpty();
        assertThat(source.getStatus()).isEqualTo(Status.UNHEALTHY);
        cache.put(Secrets.of("shop", "key", "v1"));
        assertThat(marked).isEmpty();
    }

    @Test
    void primary_thatWasReplacedUnseen_isAnother() {
        Website first = website("one", 1, "db");
        Website second = website("one", 2, "cert");
        second.getMetadata().setUid("another");
        start(first);

        source.onResourceUpdated(second, first);

        assertThat(held()).containsExactly("cert");
        source.onResourceDeleted(second);
        assertThat(held()).isEmpty();
    }

    @Test
    void namespaces_thatTheControllerLeaves_areReleased() {
        start(website("one", 1, "db"), website("two", 2, "cert"));

        controllers.remove("one");
        source.changeNamespaces(Set.of("elsewhere"));

        assertThat(held()).containsExactly("cert");
    }

    @Test
    void newerPrimary_thatTheControllerWroteItself_isRegisteredWhenItAsks() {
        Website one = website("one", 1, "db");
        start(one);
        cache.put(Secrets.of("shop", "cert", "v1"));

        assertThat(source.getSecondaryResources(website("one", 2, "cert"))).hasSize(1);
        assertThat(held()).containsExactly("cert");

        source.getSecondaryResources(one); // an old copy
        source.onResourceUpdated(one, one);
        assertThat(held()).containsExactly("cert");
    }

    /** When a reconciliation may ask although its primary is not registered. */
    enum Unregistered {
        NOT_STARTED {
            @Override
            void bringAbout(PodcacheEventSource<Secret, Website> source, Website primary) {}
        },
        NOT_SEEN {
            @Override
            void bringAbout(PodcacheEventSource<Secret, Website> source, Website primary) {
                source.start();
            }
        },
        DELETED {
            @Override
            void bringAbout(PodcacheEventSource<Secret, Website> source, Website primary) {
                source.start();
                source.onResourceCreated(primary);
                source.onResourceDeleted(primary);
            }
        },
        LEFT_NAMESPACE {
            @Override
            void bringAbout(PodcacheEventSource<Secret, Website> source, Website primary) {
                source.start();
                source.onResourceCreated(primary);
                source.changeNamespaces(Set.of("elsewhere"));
            }
        },
        STOPPED {
            @Override
            void bringAbout(PodcacheEventSource<Secret, Website> source, Website primary) {
                source.start();
                source.onResourceCreated(primary);
                source.stop();
            }
        },
        OLD_COPY {
            @Override
            void bringAbout(PodcacheEventSource<Secret, Website> source, Website primary) {
                source.start();
                source.onResourceCreated(website("one", 2, "other"));
            }
        };

        abstract void bringAbout(PodcacheEventSource<Secret, Website> source, Website primary);
    }

    @ParameterizedTest
    @EnumSource
    void secondaryResources_ofAnUnregisteredPrimary_areThoseThatExist(Unregistered why) {
        cache.put(Secrets.of("shop", "db", "v1"));
        Website one = website("one", 1, "db", "missing");
        why.bringAbout(source, one);
        List<String> before = held();
        marked.clear();

        assertThat(source.getSecondaryResources(one))
                .extracting(secret -> secret.getMetadata().getName())
                .containsExactly("db");
        assertThat(held()).as("a read leaves no registration").isEqualTo(before);
        assertThat(marked).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void secondaryResources_ofAnUnregisteredPrimary_thatAreRefused_areNotAbsent(Unregistered why, NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        Website one = website("one", 1, "db");
        why.bringAbout(source, one);
        List<String> before = held();
        cache.fail(ObjectKind.SECRET, "shop", "db", FailureReason.FORBIDDEN);

        assertThatExceptionOfType(NotSynced.class)
                .isThrownBy(() -> source.getSecondaryResources(one))
                .withMessageContaining("shop/db");
        assertThat(held()).isEqualTo(before);
    }

    @Test
    void secondaryResource_thatDidNotExist_andIsRefusedNow_isNotAbsent(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        Website one = website("one", 1, "db");
        start(one);
        assertThat(source.getSecondaryResources(one)).isEmpty();

        cache.fail(ObjectKind.SECRET, "shop", "db", FailureReason.FORBIDDEN);

        assertThatExceptionOfType(NotFound.class)
                .isThrownBy(() -> source.getSecondaryResources(one))
                .withMessageContaining("checking again failed");
    }

    @Test
    void failure_doesNotReconcile_andIsThrownIfNothingIsKnown(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        cache.put(Secrets.of("shop", "db", "v1"));
        cache.fail(ObjectKind.SECRET, "shop", "cert", FailureReason.FORBIDDEN);
        Website one = website("one", 1, "db");
        Website two = website("two", 2, "cert");
        start(one, two);
        marked.clear();

        cache.fail(ObjectKind.SECRET, "shop", "db", FailureReason.UNAVAILABLE);

        assertThat(marked).isEmpty();
        assertThat(source.getSecondaryResources(one)).hasSize(1);
        assertThatExceptionOfType(NotSynced.class).isThrownBy(() -> source.getSecondaryResources(two));
    }

    @Test
    void primary_thatCouldNotBeRead_isReconciledAgain_untilItIsRead(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        cache.fail(ObjectKind.SECRET, "shop", "db", FailureReason.FORBIDDEN);
        Website one = website("one", 1, "db");
        start(one, website("two", 2, "cert"));
        assertThatExceptionOfType(NotSynced.class).isThrownBy(() -> source.getSecondaryResources(one));
        marked.clear();

        cache.remove(ObjectKind.SECRET, "shop", "db"); // no event: it was never there

        assertThat(marked).containsExactly("one");
        assertThat(source.getSecondaryResources(one)).isEmpty();
        marked.clear();
        pass();
        assertThat(marked).isEmpty();
    }

    @Test
    void primary_whoseObjectDidNotExist_andCouldNotBeRead_isReconciledAgain(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        Website one = website("one", 1, "db");
        start(one);
        cache.fail(ObjectKind.SECRET, "shop", "db", FailureReason.FORBIDDEN);
        assertThatExceptionOfType(NotFound.class).isThrownBy(() -> source.getSecondaryResources(one));
        marked.clear();

        cache.remove(ObjectKind.SECRET, "shop", "db");

        assertThat(marked).containsExactly("one");
    }

    @Test
    void primary_thatWasReadAfterAFailure_isNotReconciledAgain(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        cache.fail(ObjectKind.SECRET, "shop", "db", FailureReason.FORBIDDEN);
        Website one = website("one", 1, "db", "cert");
        start(one);
        assertThatExceptionOfType(NotSynced.class).isThrownBy(() -> source.getSecondaryResources(one));

        Website withoutIt = website("one", 2, "cert");
        source.onResourceUpdated(withoutIt, one);
        assertThat(source.getSecondaryResources(withoutIt)).isEmpty();
        pass();

        assertThat(marked).isEmpty();
    }

    @Test
    void primary_thatCouldNotBeRead_isNotReconciledOnceItIsGoneOrTheSourceHasStopped(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        cache.fail(ObjectKind.SECRET, "shop", "db", FailureReason.FORBIDDEN);
        Website one = website("one", 1, "db");
        Website two = website("two", 2, "db");
        start(one, two);
        assertThatExceptionOfType(NotSynced.class).isThrownBy(() -> source.getSecondaryResources(one));
        assertThatExceptionOfType(NotSynced.class).isThrownBy(() -> source.getSecondaryResources(two));
        marked.clear();

        source.onResourceDeleted(one);
        pass();
        assertThat(marked).containsExactly("two");

        assertThatExceptionOfType(NotSynced.class).isThrownBy(() -> source.getSecondaryResources(two));
        marked.clear();
        source.stop();
        pass();
        assertThat(marked).isEmpty();
    }

    /** Lets minutes pass, as each change of a {@code FakePodcache} does. */
    private void pass() {
        cache.put(Secrets.of("shop", "nobody-names-it", "v1"));
    }

    @Test
    void start_withoutAServer_goesOnWithoutTheObjects(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        leaks.allowWarnings("although not all objects");
        for (int i = 0; i < 30; i++) {
            cache.fail(ObjectKind.SECRET, "shop", "s" + i, FailureReason.UNAVAILABLE);
            controllers.put("w" + i, website("w" + i, i, "s" + i));
        }

        source.start();

        assertThat(held()).hasSize(30);
    }

    @Test
    void start_doesNotWaitLongForObjectsThatAreRefused(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying"); // but not "although not all objects"
        for (int i = 0; i < 30; i++) {
            cache.fail(ObjectKind.SECRET, "shop", "s" + i, FailureReason.FORBIDDEN);
            controllers.put("w" + i, website("w" + i, i, "s" + i));
        }

        source.start();

        assertThat(source.getStatus()).isEqualTo(Status.HEALTHY);
    }

    @Test
    void illegalName_isToldToTheReconciliation() {
        Website one = website("one", 1, "No Name");
        start(one);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> source.getSecondaryResources(one))
                .withMessageContaining("No Name");
    }

    @Test
    void referencesThatCannotBeTold_areNone(NoLeaks leaks) {
        leaks.allowWarnings("the references of");
        Website one = website("one", 1, "db");
        one.setSpec(null);

        start(one, website("two", 2, "cert"));

        assertThat(held()).containsExactly("cert");
        assertThatExceptionOfType(NullPointerException.class).isThrownBy(() -> source.getSecondaryResources(one));
    }

    @Test
    void filters_apply() {
        source.setGenericFilter(secret -> !secret.getMetadata().getName().equals("hidden"));
        source.setOnAddFilter(secret -> false);
        source.setOnUpdateFilter((now, before) -> Secrets.value(now).equals("v3"));
        source.setOnDeleteFilter((secret, unknown) -> false);
        start(website("one", 1, "db"), website("two", 2, "hidden"));

        cache.put(Secrets.of("shop", "db", "v1"));
        cache.put(Secrets.of("shop", "db", "v2"));
        cache.put(Secrets.of("shop", "hidden", "v1"));
        cache.put(Secrets.of("shop", "hidden", "v3"));
        assertThat(marked).isEmpty();
        cache.put(Secrets.of("shop", "db", "v3"));
        cache.remove(ObjectKind.SECRET, "shop", "db");
        assertThat(marked).containsExactly("one");
    }

    @Test
    void otherKindsAndOtherOwners_areNoneOfItsBusiness() {
        PodcacheEventSource<Secret, Website> mixed = new PodcacheEventSource<>(
                ObjectKind.SECRET,
                cache.secrets(),
                website -> Set.of(
                        ObjectRef.of(ObjectKind.SECRET, "shop", "db"),
                        ObjectRef.of(ObjectKind.CONFIG_MAP, "shop", "settings")),
                () -> controllers.values().stream(),
                () -> Runnable::run);
        mixed.setEventHandler(
                event -> marked.add(event.getRelatedCustomResourceID().toString()));
        controllers.put("one", website("one", 1, "db"));
        mixed.start();
        cache.register(() -> "somebody", Set.of(ObjectRef.of(ObjectKind.SECRET, "shop", "db")));

        cache.put(Secrets.of("shop", "db", "v1"));

        assertThat(held()).containsExactly("db");
        assertThat(marked).hasSize(1);
        mixed.stop();
    }

    private void start(Website... websites) {
        for (Website website : websites) {
            controllers.put(website.getMetadata().getName(), website);
        }
        source.start();
    }

    private List<String> held() {
        return cache.entries().stream()
                .map(ObjectEntry::key)
                .map(key -> key.name())
                .toList();
    }

    private static Website website(String name, int version, String... secrets) {
        Website website = new Website();
        website.setMetadata(new ObjectMetaBuilder()
                .withNamespace("shop")
                .withName(name)
                .withUid("uid-" + name)
                .withResourceVersion("" + version)
                .build());
        website.setSpec(new WebsiteSpec(List.of(secrets)));
        return website;
    }
}
