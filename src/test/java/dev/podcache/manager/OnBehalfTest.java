package dev.podcache.manager;

import static dev.podcache.manager.OnBehalfFixture.MAIL;
import static dev.podcache.manager.OnBehalfFixture.TLS;
import static dev.podcache.manager.OnBehalfFixture.WEB;
import static dev.podcache.manager.OnBehalfFixture.owner;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.embedded.HeldRequests;
import dev.podcache.manager.Registrations.ReadHold;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.Denied;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.PodKey;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an owner may read, and what reads without an owner see. */
@ExtendWith(NoLeaks.class)
class OnBehalfTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final OnBehalfFixture fixture = new OnBehalfFixture(time, ChangeDetectionStrategy.WATCH);
    private final Manager<Secret> secrets = fixture.secrets;

    @BeforeEach
    void secretExists() {
        fixture.create(TLS, "v1");
    }

    @ParameterizedTest
    @EnumSource
    void read_ofASubjectThatMay_returnsTheObject(ChangeDetectionStrategy strategy) {
        OnBehalfFixture cache = new OnBehalfFixture(time, strategy);
        cache.create(TLS, "v1");
        cache.reviews.answerBy(
                (subject, access) -> subject.equals(WEB) && access.name().equals("tls"));
        cache.register(owner("a", WEB), TLS);

        assertThat(cache.read(owner("a", WEB))).isEqualTo("v1");
    }

    @ParameterizedTest
    @EnumSource
    void read_ofASubjectThatMayNot_isDeniedWithSubjectObjectAndReason(ChangeDetectionStrategy strategy) {
        OnBehalfFixture cache = new OnBehalfFixture(time, strategy);
        cache.create(TLS, "v1");
        cache.reviews.answerBy((subject, access) -> false);
        cache.register(owner("a", WEB), TLS);

        assertThatExceptionOfType(Denied.class)
                .isThrownBy(() -> cache.read(owner("a", WEB)))
                .withMessage("Secret shop/tls may not be read on behalf of system:serviceaccount:shop:web: no rule")
                .satisfies(denied -> {
                    assertThat(denied.subject()).isEqualTo(WEB);
                    assertThat(denied.key()).isEqualTo(TLS);
                    assertThat(denied.kind()).isEqualTo(ObjectKind.SECRET);
                    assertThat(denied.reason()).isEqualTo("no rule");
                });
    }

    @Test
    void review_asksForGetByName() {
        fixture.register(owner("a", WEB), TLS);

        assertThat(fixture.reviews.next().access())
                .satisfies(access -> assertThat(List.of(
                                access.verb(),
                                access.group(),
                                access.version(),
                                access.resource(),
                                access.subresource(),
                                access.namespace(),
                                access.name()))
                        .containsExactly("get", "", "v1", "secrets", "", "shop", "tls"));
    }

    @Test
    void read_beforeTheFirstReview_waitsForIt() throws Exception {
        fixture.register(owner("a", WEB), TLS);
        CompletableFuture<String> read =
                CompletableFuture.supplyAsync(() -> fixture.read(owner("a", WEB)), NewThread.EACH);
        time.awaitWaiters(1);
        assertThat(read).isNotDone();

        fixture.reviews.next().answer(true);

        assertThat(Patience.await().until(read::isDone, done -> done)).isTrue();
        assertThat(read.join()).isEqualTo("v1");
    }

    @Test
    void read_ofAnOwnerThatIsUnregisteredMeanwhile_endsAtOnce() throws Exception {
        fixture.register(owner("a", WEB), TLS);
        CompletableFuture<Secret> async = secrets.getObjectAsync(owner("a", WEB), "shop", "tls");
        CompletableFuture<String> read =
                CompletableFuture.supplyAsync(() -> fixture.read(owner("a", WEB)), NewThread.EACH);
        time.awaitWaiters(1);

        fixture.managers.unregister(owner("a"));

        assertThatThrownBy(async::join).hasCauseInstanceOf(NotRegistered.class);
        assertThatThrownBy(read::join).hasCauseInstanceOf(NotRegistered.class);
    }

    @Test
    void read_withoutAnyAnswer_isDeniedAfterTenSeconds() {
        fixture.register(owner("a", WEB), TLS);
        CompletableFuture<Secret> read = secrets.getObjectAsync(owner("a", WEB), "shop", "tls");

        time.advance(Duration.ofSeconds(10));

        assertThat(read).isCompletedExceptionally();
        assertThatThrownBy(read::join)
                .hasCauseInstanceOf(Denied.class)
                .hasMessageContaining("no review was answered yet");
    }

    @Test
    void readsThatGaveUp_whileTheServerAnswersNoReview_areNotKept() throws Exception {
        fixture.register(owner("a", WEB), TLS);
        ReadHold hold = holdOf(owner("a", WEB));
        List<CompletableFuture<Secret>> reads = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            reads.add(secrets.getObjectAsync(owner("a", WEB), "shop", "tls"));
            reads.add(secrets.getObjectAsync(owner("a", WEB), "shop", "tls"));
        }
        CompletableFuture<String> blocking =
                CompletableFuture.supplyAsync(() -> fixture.read(owner("a", WEB)), NewThread.EACH);
        time.awaitWaiters(1);
        assertThat(hold.waits()).isEqualTo(201);

        for (int i = 0; i < reads.size(); i += 2) {
            reads.get(i).cancel(false);
        }
        assertThat(hold.waits()).isEqualTo(101);
        time.advance(Duration.ofSeconds(10));
        assertThat(Patience.await().until(blocking::isDone, done -> done)).isTrue();

        assertThat(reads).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(hold.waits()).isZero();
        assertThat(hold.dependents()).isLessThanOrEqualTo(1);
        fixture.reviews.next().answer(true);
        assertThat(fixture.read(owner("a", WEB))).isEqualTo("v1");
    }

    @Test
    void ownersThatComeAndGo_whileTheServerAnswersNoReview_areNotKept() {
        fixture.register(owner("a", WEB), TLS);
        CompletableFuture<Secret> first = secrets.getObjectAsync(owner("a", WEB), "shop", "tls");
        ReadHold hold = holdOf(owner("a", WEB));

        for (int i = 0; i < 100; i++) {
            Referrer other = owner("b", WEB);
            fixture.register(other, TLS);
            CompletableFuture<Secret> read = secrets.getObjectAsync(other, "shop", "tls");
            ReadHold ofOther = holdOf(other);
            fixture.managers.unregister(other);
            assertThat(read).isCompletedExceptionally();
            assertThat(ofOther.waits()).isZero();
        }

        assertThat(hold.waits()).isOne();
        assertThat(hold.dependents()).isOne();
        assertThat(first).isNotDone();
    }

    private ReadHold holdOf(Referrer owner) {
        return Objects.requireNonNull(((StoreManager<Secret>) secrets).holder(owner, TLS))
                .hold();
    }

    @Test
    void read_afterARevocation_isDenied() {
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(owner("a", WEB), TLS);
        assertThat(fixture.read(owner("a", WEB))).isEqualTo("v1");
        fixture.reviews.answerBy((subject, access) -> false);

        time.advance(Duration.ofMinutes(5));

        assertThatExceptionOfType(Denied.class).isThrownBy(() -> fixture.read(owner("a", WEB)));
        assertThat(secrets.peek(owner("a", WEB), "shop", "tls")).isEmpty();
    }

    @Test
    void read_withAnotherSubjectOrNone_isRefused() {
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(owner("a", WEB), TLS);
        fixture.register(owner("plain"), TLS);

        for (Referrer other : List.of(owner("a"), owner("a", MAIL), owner("a", null), owner("plain", WEB))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> fixture.read(other))
                    .withMessageContaining("read with the referrer that was registered");
        }
    }

    @Test
    void read_ofWhatTheOwnerDidNotRegister_isNotRegistered() {
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.create(DB, "db");
        fixture.register(owner("a", WEB), TLS);
        fixture.register(owner("b", WEB), DB);
        fixture.register(owner("plain"), TLS);

        for (Referrer reader : List.of(owner("b", WEB), owner("nobody"), owner("nobody", WEB))) {
            assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> fixture.read(reader));
        }
        assertThat(fixture.read(owner("plain"))).isEqualTo("v1");
    }

    @Test
    void nobody_mayReadNothing() {
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(owner("a", null), TLS);

        assertThatExceptionOfType(Denied.class)
                .isThrownBy(() -> fixture.read(owner("a", null)))
                .satisfies(denied -> assertThat(denied.subject()).isNull())
                .withMessageContaining("on behalf of nobody");
    }

    @Test
    void readWithoutOwner_seesOnlyWhatAnOwnerWithoutASubjectHolds() {
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(owner("a", WEB), TLS);
        assertThat(fixture.read(owner("a", WEB))).isEqualTo("v1");

        assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> secrets.getObject("shop", "tls"));
        assertThat(secrets.peek("shop", "tls")).isEmpty();
        assertThat(secrets.getObjectAsync("shop", "tls")).isCompletedExceptionally();
        assertThatExceptionOfType(NotRegistered.class)
                .isThrownBy(() -> secrets.getObject("shop", "tls", ReadConsistency.latest()));

        fixture.register(owner("plain"), TLS);
        assertThat(Secrets.value(secrets.getObject("shop", "tls"))).isEqualTo("v1");
        assertThat(secrets.peek("shop", "tls")).isPresent();

        fixture.managers.unregister(owner("plain"));
        assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> secrets.getObject("shop", "tls"));
        assertThat(fixture.read(owner("a", WEB))).isEqualTo("v1");
    }

    @Test
    void anotherSubject_replacesTheOldOneAtOnceAndStartsAsDenied() {
        fixture.register(owner("a", WEB), TLS);
        fixture.reviews.next().answer(true);
        assertThat(fixture.read(owner("a", WEB))).isEqualTo("v1");

        fixture.register(owner("a", MAIL), TLS);

        assertThat(secrets.peek(owner("a", MAIL), "shop", "tls")).isEmpty();
        assertThatIllegalArgumentException().isThrownBy(() -> fixture.read(owner("a", WEB)));
        fixture.reviews.next().answer(true);
        assertThat(fixture.read(owner("a", MAIL))).isEqualTo("v1");
    }

    @Test
    void anotherSubject_countsForTheObjectsOfAllKinds() {
        fixture.reviews.answerBy((subject, access) -> subject.equals(WEB));
        fixture.managers.register(
                owner("a", WEB),
                Set.of(ObjectRef.of(ObjectKind.SECRET, TLS), ObjectRef.of(ObjectKind.CONFIG_MAP, "shop", "c")));

        fixture.managers.of(ObjectKind.CONFIG_MAP).register(owner("a", MAIL), Set.of(ObjectKey.of("shop", "c")));

        assertThatExceptionOfType(Denied.class).isThrownBy(() -> fixture.read(owner("a", MAIL)));
    }

    @Test
    void sameSubject_registeredAgain_keepsTheRight() {
        fixture.register(owner("a", WEB), TLS);
        fixture.reviews.next().answer(true);

        fixture.register(owner("a", Subject.serviceAccount("shop", "web")), TLS, DB);

        assertThat(fixture.read(owner("a", WEB))).isEqualTo("v1");
        assertThat(fixture.reviews.count()).isEqualTo(2);
    }

    @Test
    void subjectDropped_readsAsAnyOwner() {
        fixture.register(owner("a", WEB), TLS);

        fixture.register(owner("a"), TLS);

        assertThat(fixture.read(owner("a"))).isEqualTo("v1");
        assertThat(Secrets.value(secrets.getObject("shop", "tls"))).isEqualTo("v1");
        fixture.register(owner("a", WEB), TLS);
        assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> secrets.getObject("shop", "tls"));
    }

    @Test
    void unregistered_holdsAndFollowsNothing() {
        fixture.register(owner("a", WEB), TLS);
        fixture.reviews.next().answer(true);

        fixture.managers.unregister(owner("a"));

        assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> fixture.read(owner("a", WEB)));
        assertThat(fixture.managers.entries()).isEmpty();
        time.advance(Duration.ofHours(1));
        assertThat(fixture.reviews.count()).isOne();
        assertThat(time.scheduledTasks()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void podWithASubject_isUnregistered_holdsAndFollowsNothing(ChangeDetectionStrategy strategy) {
        OnBehalfFixture cache = new OnBehalfFixture(time, strategy);
        cache.create(TLS, "v1");
        cache.reviews.answerBy((subject, access) -> true);
        Referrer pod = PodKey.of("shop", "web-1", "u1").onBehalfOf(WEB);
        for (Consumer<Pod> unregister :
                List.<Consumer<Pod>>of(cache.managers::unregisterPod, cache.secrets::unregisterPod)) {
            cache.register(pod, TLS);
            assertThat(cache.read(pod)).isEqualTo("v1");
            int reviews = cache.reviews.count();

            unregister.accept(Pods.withSecrets("shop", "web-1", "u1", "tls"));

            assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> cache.read(pod));
            time.advance(Duration.ofHours(1));
            assertThat(cache.reviews.count()).isEqualTo(reviews);
            assertThat(time.scheduledTasks()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void podWithASubject_isRegisteredWithoutOne_readsAsAnyPod(ChangeDetectionStrategy strategy) {
        OnBehalfFixture cache = new OnBehalfFixture(time, strategy);
        cache.create(TLS, "v1");
        cache.reviews.answerBy((subject, access) -> true);
        PodKey key = PodKey.of("shop", "web-1", "u1");
        Pod pod = Pods.at(Pods.withSecrets("shop", "web-1", "u1", "tls"), "1");
        for (Consumer<Pod> register : List.<Consumer<Pod>>of(cache.managers::registerPod, cache.secrets::registerPod)) {
            cache.managers.register(
                    key.onBehalfOf(WEB),
                    Set.of(ObjectRef.of(ObjectKind.SECRET, TLS), ObjectRef.of(ObjectKind.CONFIG_MAP, TLS)));
            int reviews = cache.reviews.count();

            register.accept(pod);

            assertThat(cache.read(key)).isEqualTo("v1");
            time.advance(Duration.ofHours(1));
            assertThat(cache.reviews.count()).isEqualTo(reviews);
            cache.managers.unregisterPod(pod);
            assertThat(cache.managers.entries()).isEmpty();
            assertThat(time.scheduledTasks()).isZero();
            assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> cache.read(key.onBehalfOf(WEB)));
        }
    }

    @Test
    void referrerOfAPod_isTheOwnerThatRegisterPodRegisters() {
        Pod pod = Pods.withSecrets("shop", "web-1", "u1", "tls");
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.managers.registerPod(pod);

        assertThat(fixture.read(Referrer.of(pod))).isEqualTo("v1");

        fixture.register(Referrer.of(pod).onBehalfOf(WEB), TLS);
        assertThat(fixture.read(Referrer.of(pod).onBehalfOf(WEB))).isEqualTo("v1");
        assertThatIllegalArgumentException().isThrownBy(() -> fixture.read(Referrer.of(pod)));
        fixture.managers.unregisterPod(pod);
        assertThat(fixture.managers.entries()).isEmpty();
    }

    @Test
    void reviews_areOneForEachPairOfSubjectAndObject() {
        for (int i = 0; i < 100; i++) {
            fixture.register(owner("a" + i, WEB), TLS, DB);
            fixture.register(owner("b" + i, MAIL), TLS);
        }

        assertThat(fixture.reviews.count()).isEqualTo(3);
    }

    @Test
    void ownersOfOneUid_areOneOwner() {
        Referrer first = () -> "u1";
        Referrer second = () -> "u1";
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(first.onBehalfOf(WEB), TLS);

        assertThat(fixture.read(second.onBehalfOf(WEB))).isEqualTo("v1");
        fixture.managers.unregister(second);
        assertThat(fixture.managers.entries()).isEmpty();
    }

    @Test
    void podWithASubject_isTheSameOwnerAsWithoutOne() {
        PodKey pod = PodKey.of("shop", "web-1", "u1");
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(pod, TLS);
        fixture.register(pod.onBehalfOf(MAIL), TLS);

        assertThatIllegalArgumentException().isThrownBy(() -> fixture.read(pod));
        assertThat(fixture.read(pod.onBehalfOf(MAIL))).isEqualTo("v1");

        fixture.register(pod, TLS);
        assertThat(fixture.read(pod)).isEqualTo("v1");
        assertThatIllegalArgumentException().isThrownBy(() -> fixture.read(pod.onBehalfOf(MAIL)));

        fixture.register(pod.onBehalfOf(WEB), TLS);
        fixture.managers.unregister(pod);
        assertThat(fixture.managers.entries()).isEmpty();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void owner_isGivenASubjectWhileItsReadWaits_readIsRefused() {
        OnBehalfFixture cache = new OnBehalfFixture(time, ChangeDetectionStrategy.CACHE);
        cache.create(TLS, "v1");
        Referrer plain = owner("a");
        cache.register(plain, TLS);
        HeldRequests held = cache.server.hold(TLS);
        CompletableFuture<Secret> read = cache.secrets.getObjectAsync(plain, "shop", "tls");
        cache.register(plain.onBehalfOf(null), TLS);
        assertThat(read).isNotDone();

        held.release();

        assertThat(read).isCompletedExceptionally();
        assertThatThrownBy(read::join).hasCauseInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void allForms_forAnOwner_returnTheObject() throws Exception {
        fixture.reviews.answerBy((subject, access) -> true);
        Referrer web = owner("a", WEB);
        fixture.register(web, TLS, DB);

        assertThat(Secrets.value(secrets.getObject(web, "shop", "tls", ReadConsistency.latest())))
                .isEqualTo("v1");
        assertThat(Secrets.value(secrets.getObjectAsync(web, "shop", "tls").get()))
                .isEqualTo("v1");
        assertThat(secrets.findObject(web, "shop", "tls")).isPresent();
        assertThat(secrets.findObject(web, "shop", "db")).isEmpty();
        assertThat(secrets.peek(web, "shop", "tls")).isPresent();
        assertThat(secrets.getObjects(web, Set.of(TLS, DB))).containsOnlyKeys(TLS);
    }

    @Test
    void anotherSubjectWhileARead_waits_isRefused() {
        OnBehalfFixture cache = new OnBehalfFixture(time, ChangeDetectionStrategy.CACHE);
        cache.create(TLS, "v1");
        cache.register(owner("a", WEB), TLS);
        cache.reviews.next().answer(true);
        var held = cache.server.hold(TLS);
        CompletableFuture<Secret> read = cache.secrets.getObjectAsync(owner("a", WEB), "shop", "tls");
        assertThat(read).isNotDone();

        cache.register(owner("a", MAIL), TLS);
        held.release();

        // what is registered now decides
        assertThatThrownBy(read::join).hasCauseInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void revokedWhileARead_waits_isDenied() {
        OnBehalfFixture cache = new OnBehalfFixture(time, ChangeDetectionStrategy.CACHE);
        cache.create(TLS, "v1");
        cache.register(owner("a", WEB), TLS);
        cache.reviews.next().answer(true);
        var held = cache.server.hold(TLS);
        CompletableFuture<Secret> read = cache.secrets.getObjectAsync(owner("a", WEB), "shop", "tls");
        cache.cached.accessChanged("shop");
        time.advance(Duration.ofMillis(100));
        cache.reviews.next().answer(false);

        held.release();

        assertThatThrownBy(read::join).hasCauseInstanceOf(Denied.class);
    }

    @Test
    void registeredAgainWhileARead_waits_isReadAsRegisteredNow() {
        OnBehalfFixture cache = new OnBehalfFixture(time, ChangeDetectionStrategy.CACHE);
        cache.create(TLS, "v1");
        cache.reviews.answerBy((subject, access) -> true);
        cache.register(owner("plain"), TLS);
        cache.register(owner("a", WEB), TLS);
        var held = cache.server.hold(TLS);
        CompletableFuture<Secret> read = cache.secrets.getObjectAsync(owner("a", WEB), "shop", "tls");

        cache.managers.unregister(owner("a"));
        cache.register(owner("a", WEB), TLS);
        held.release();

        assertThat(Secrets.value(read.join())).isEqualTo("v1");
    }

    @Test
    void get_underGet_withoutASubject_needsNoRegistration() {
        OnBehalfFixture cache = new OnBehalfFixture(time, ChangeDetectionStrategy.GET);
        cache.create(TLS, "v1");

        assertThat(cache.read(owner("plain"))).isEqualTo("v1");
        assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> cache.read(owner("a", WEB)));
    }

    @Test
    void entries_nameTheOwnerAsRegistered() {
        fixture.register(owner("a", WEB), TLS);
        fixture.register(owner("a", MAIL), TLS);

        assertThat(fixture.managers.entries().get(0).referrers())
                .singleElement()
                .satisfies(holder -> assertThat(holder.subject()).contains(MAIL));
    }

    /** A cache closes its reviews before its stores. */
    @ParameterizedTest
    @EnumSource
    void read_ofAClosedCache_isClosedAndNotDenied(ChangeDetectionStrategy strategy) {
        OnBehalfFixture cache = new OnBehalfFixture(time, strategy);
        cache.create(TLS, "v1");
        cache.register(owner("a", WEB), TLS);
        cache.register(owner("b", null), TLS);
        CompletableFuture<Secret> waiting = cache.secrets.getObjectAsync(owner("a", WEB), "shop", "tls");

        cache.cached.close();

        assertThatThrownBy(waiting::join).hasCauseInstanceOf(Closed.class);
        cache.register(owner("c", MAIL), TLS);
        for (Referrer reader : List.of(owner("a", WEB), owner("b", null), owner("c", MAIL))) {
            assertThatExceptionOfType(Closed.class).isThrownBy(() -> cache.read(reader));
        }
    }

    @Test
    void subjectWithExtra_isSecretInEveryMessage() {
        Subject jane = Subject.user("jane", List.of("g"), "u", Map.of("token", List.of("s3cr3t" + NoLeaks.CANARY)));
        fixture.reviews.answerBy((subject, access) -> false);
        fixture.register(owner("a", jane), TLS);

        assertThatExceptionOfType(Denied.class)
                .isThrownBy(() -> fixture.read(owner("a", jane)))
                .satisfies(denied -> assertThat(denied.toString()).doesNotContain(NoLeaks.CANARY));
    }
}
