package dev.podcache.manager;

import static dev.podcache.manager.OnBehalfFixture.MAIL;
import static dev.podcache.manager.OnBehalfFixture.TLS;
import static dev.podcache.manager.OnBehalfFixture.WEB;
import static dev.podcache.manager.OnBehalfFixture.owner;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Listeners are told only what an owner may read, and of changes of the right. */
@ExtendWith(NoLeaks.class)
class OnBehalfListenTest {

    private static final Duration GATHER = Duration.ofMillis(50);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final OnBehalfFixture fixture = new OnBehalfFixture(time, ChangeDetectionStrategy.WATCH);
    private final List<String> told = new ArrayList<>();
    private final List<String> gathered = new ArrayList<>();

    private void listen() {
        fixture.secrets.listen(Runnable::run, event -> told.add(text(event)));
        fixture.secrets.listen(
                Runnable::run,
                GATHER,
                (owner, events) -> gathered.add(owner.name() + ": "
                        + events.stream().map(OnBehalfListenTest::text).collect(Collectors.joining(", "))));
    }

    /** Returns type, owners, and what was before and is now. */
    private static String text(ObjectEvent<Secret> event) {
        return event.type() + " "
                + event.referrers().stream().map(Referrer::name).sorted().toList() + " "
                + event.previous().map(Secrets::value).orElse("-") + " "
                + event.current().map(Secrets::value).orElse("-");
    }

    private void pass() {
        time.advance(GATHER);
    }

    @Test
    void denied_isToldWithoutContent() {
        fixture.create(TLS, "v1");
        listen();
        fixture.register(owner("a", WEB), TLS);
        assertThat(told).isEmpty();

        fixture.reviews.next().answer(false);
        fixture.replace(TLS, "v2");
        pass();

        assertThat(told).containsExactly("DENIED [a] - -");
        assertThat(gathered).containsExactly("a: DENIED [a] - -");
    }

    @Test
    void allowedFromTheBeginning_isToldAsAnyOwner() {
        fixture.create(TLS, "v1");
        listen();
        fixture.register(owner("a", WEB), TLS);

        fixture.reviews.next().answer(true);
        fixture.replace(TLS, "v2");
        pass();

        assertThat(told).containsExactly("ADDED [a] - v1", "UPDATED [a] v1 v2");
        assertThat(gathered).containsExactly("a: ADDED [a] - v2");
    }

    @Test
    void allowed_beforeTheObjectExists_isToldBothInTurn() {
        listen();
        fixture.register(owner("a", WEB), TLS);
        fixture.reviews.next().answer(false);
        time.advance(Duration.ofSeconds(30));
        fixture.reviews.next().answer(true);

        fixture.create(TLS, "v1");

        assertThat(told).containsExactly("DENIED [a] - -", "ALLOWED [a] - -", "ADDED [a] - v1");
    }

    @Test
    void event_namesOnlyOwnersThatMayRead() {
        fixture.create(TLS, "v1");
        fixture.reviews.answerBy((subject, access) -> subject.equals(WEB));
        fixture.register(owner("a", WEB), TLS);
        fixture.register(owner("b", MAIL), TLS);
        fixture.register(owner("plain"), TLS);
        listen();

        fixture.replace(TLS, "v2");
        pass();

        assertThat(told).containsExactly("ADDED [a, plain] - v1", "UPDATED [a, plain] v1 v2");
        assertThat(gathered).containsExactlyInAnyOrder("a: ADDED [a, plain] - v2", "plain: ADDED [a, plain] - v2");
    }

    @Test
    void revokedAndAllowedAgain_isToldBothAndNeverWhatWasBetween() {
        fixture.create(TLS, "v1");
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(owner("a", WEB), TLS);
        listen();
        fixture.reviews.answerBy((subject, access) -> false);
        time.advance(Duration.ofMinutes(5));
        fixture.replace(TLS, "between");
        fixture.replace(TLS, "v3");
        fixture.reviews.answerBy((subject, access) -> true);
        time.advance(Duration.ofSeconds(30));
        fixture.replace(TLS, "v4");
        pass();

        assertThat(told).containsExactly("ADDED [a] - v1", "DENIED [a] - -", "ALLOWED [a] - v3", "UPDATED [a] v3 v4");
        assertThat(String.join(" ", gathered)).doesNotContain("between");
    }

    @Test
    void allowedLater_besideAnother_isNotToldWhatWasBefore() {
        fixture.create(TLS, "v1");
        fixture.reviews.answerBy((subject, access) -> subject.equals(WEB));
        fixture.register(owner("a", WEB), TLS);
        fixture.register(owner("b", MAIL), TLS);
        listen();
        fixture.replace(TLS, "v2");
        fixture.reviews.answerBy((subject, access) -> true);
        time.advance(Duration.ofSeconds(30));
        fixture.replace(TLS, "v3");

        assertThat(told)
                .containsExactly("ADDED [a] - v1", "UPDATED [a] v1 v2", "ALLOWED [b] - v2", "UPDATED [a, b] v2 v3");
    }

    @Test
    void deniedBeforeTheCall_isLeftOut() {
        fixture.create(TLS, "v1");
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(owner("a", WEB), TLS);
        List<Runnable> tasks = new ArrayList<>();
        fixture.secrets.listen(
                tasks::add, GATHER, (owner, events) -> events.forEach(event -> gathered.add(text(event))));
        pass();
        fixture.reviews.answerBy((subject, access) -> false);
        time.advance(Duration.ofMinutes(5));

        while (!tasks.isEmpty()) {
            tasks.remove(0).run();
        }

        assertThat(gathered).containsExactly("DENIED [a] - -");
    }

    @Test
    void deniedBeforeDelivery_isNotShown() {
        fixture.create(TLS, "v1");
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(owner("a", WEB), TLS);
        List<Runnable> tasks = new ArrayList<>();
        fixture.secrets.listen(tasks::add, event -> told.add(text(event)));
        fixture.reviews.answerBy((subject, access) -> false);
        time.advance(Duration.ofMinutes(5));

        while (!tasks.isEmpty()) {
            tasks.remove(0).run();
        }

        assertThat(told).isEmpty();
    }

    /** What is new and watched again when the listener looks is two events at once. */
    @Test
    void deniedBeforeDelivery_andAllowedBeforeTheNextLook_isTold(NoLeaks leaks) {
        leaks.allowWarnings("watch of Secret shop/tls failed");
        fixture.create(TLS, "v1");
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(owner("a", WEB), TLS);
        fixture.register(owner("plain"), TLS);
        List<Runnable> tasks = new ArrayList<>();
        fixture.secrets.listen(tasks::add, event -> {
            told.add(text(event));
            if (event.type() == ObjectEvent.Type.UPDATED) {
                fixture.reviews.answerBy((subject, access) -> false);
                time.advance(Duration.ofMinutes(5));
            } else if (event.type() == ObjectEvent.Type.RECOVERED) {
                fixture.reviews.answerBy((subject, access) -> true);
                time.advance(Duration.ofSeconds(30));
            }
        });
        runAll(tasks);
        fixture.server.resetWatches();
        runAll(tasks);
        fixture.replace(TLS, "v2");
        time.advance(Duration.ofSeconds(10));
        runAll(tasks);

        assertThat(told)
                .containsExactly(
                        "ADDED [a, plain] - v1",
                        "STALE [a, plain] v1 v1",
                        "UPDATED [a, plain] v1 v2",
                        "DENIED [a] - -",
                        "RECOVERED [plain] v2 v2",
                        "ALLOWED [a] - v2");
    }

    private static void runAll(List<Runnable> tasks) {
        while (!tasks.isEmpty()) {
            tasks.remove(0).run();
        }
    }

    @Test
    void anotherSubject_isDeniedAndAllowed() {
        fixture.create(TLS, "v1");
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(owner("a", WEB), TLS);
        listen();
        pass();
        gathered.clear();
        fixture.reviews.answerBy(null);

        fixture.register(owner("a", MAIL), TLS);
        pass();
        assertThat(told).containsExactly("ADDED [a] - v1", "DENIED [a] - -");
        assertThat(gathered).containsExactly("a: DENIED [a] - -");

        fixture.reviews.next().answer(true);
        pass();
        assertThat(told.get(2)).isEqualTo("ALLOWED [a] - v1");
        assertThat(gathered.get(1)).isEqualTo("a: ALLOWED [a] - v1");
    }

    @Test
    void ownerThatLostItsSubject_isNamedAsItIsRegisteredNow() {
        fixture.create(TLS, "v1");
        fixture.register(owner("a", WEB), TLS);
        fixture.register(owner("a"), TLS);
        List<Referrer> named = new ArrayList<>();
        fixture.secrets.listen(Runnable::run, event -> named.addAll(event.referrers()));

        fixture.replace(TLS, "v2");

        assertThat(named).hasSize(2).noneMatch(Referrer::isOnBehalf);
        assertThat(named).allSatisfy(reader -> assertThat(fixture.read(reader)).isEqualTo("v2"));
    }

    /** An owner of a user's own class, which does not equal itself with a subject. */
    private record OwnerOfAUser(String uid, String name) implements Referrer {}

    @Test
    void ownersThatLostTheirSubject_besideOneThatHasOne_areToldWhatWasGathered() {
        fixture.create(TLS, "v1");
        fixture.reviews.answerBy((subject, access) -> true);
        for (Referrer each : List.of(PodKey.of("shop", "pod", "uid-pod"), new OwnerOfAUser("uid-own", "own"))) {
            fixture.register(each.onBehalfOf(WEB), TLS);
            fixture.register(each, TLS);
        }
        fixture.register(owner("b", WEB), TLS);
        listen();
        pass();
        gathered.clear();

        fixture.replace(TLS, "v2");
        pass();

        assertThat(gathered)
                .containsExactlyInAnyOrder(
                        "b: UPDATED [b, own, pod] v1 v2",
                        "own: UPDATED [b, own, pod] v1 v2",
                        "pod: UPDATED [b, own, pod] v1 v2");
    }

    @Test
    void ownerThatLosesItsSubjectBeforeTheCall_isToldWhatWasGathered_asItIsRegisteredNow() {
        fixture.create(TLS, "v1");
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(owner("a", WEB), TLS);
        listen();
        List<Referrer> named = new ArrayList<>();
        fixture.secrets.listen(Runnable::run, GATHER, (owner, events) -> {
            named.add(owner);
            events.forEach(event -> named.addAll(event.referrers()));
        });
        pass();
        gathered.clear();
        named.clear();

        fixture.replace(TLS, "v2");
        fixture.register(owner("a"), TLS);
        pass();

        assertThat(gathered).containsExactly("a: UPDATED [a] v1 v2");
        assertThat(named).hasSize(2).noneMatch(Referrer::isOnBehalf);
    }

    @Test
    void ownerThatGetsASubjectBeforeTheCall_isToldOnceThatMayRead() {
        fixture.create(TLS, "v1");
        fixture.register(owner("a"), TLS);
        listen();
        pass();
        gathered.clear();

        fixture.replace(TLS, "v2");
        fixture.register(owner("a", WEB), TLS);
        pass();
        assertThat(gathered).isEmpty();

        fixture.reviews.next().answer(true);
        pass();
        assertThat(gathered).containsExactly("a: ADDED [a] - v2");
    }

    @Test
    void deleted_isToldToReadersOnly() throws Exception {
        fixture.create(TLS, "v1");
        fixture.reviews.answerBy((subject, access) -> subject.equals(WEB));
        fixture.register(owner("a", WEB), TLS);
        fixture.register(owner("b", MAIL), TLS);
        listen();

        fixture.server.cluster().delete(Secrets.of(TLS, "v1"));

        assertThat(told).containsExactly("ADDED [a] - v1", "DELETED [a] v1 -");
    }

    /** A cache closes its reviews before its stores, which may tell of a change meanwhile. */
    @Test
    void closing_isNoDenial() {
        fixture.create(TLS, "v1");
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(owner("a", WEB), TLS);
        fixture.register(owner("plain"), TLS);
        listen();

        fixture.cached.close();
        fixture.replace(TLS, "v2");
        pass();

        assertThat(told).containsExactly("ADDED [a, plain] - v1", "UPDATED [plain] v1 v2");
        assertThat(gathered).containsExactly("plain: ADDED [plain] - v2");
    }

    @Test
    void event_keptByAUser_hasNoHolds() {
        fixture.create(TLS, "v1");
        fixture.reviews.answerBy((subject, access) -> true);
        fixture.register(owner("a", WEB), TLS);
        List<ObjectEvent<Secret>> kept = new ArrayList<>();
        fixture.secrets.listen(Runnable::run, kept::add);
        fixture.secrets.listen(Runnable::run, GATHER, (owner, events) -> kept.addAll(events));
        pass();

        assertThat(kept).hasSize(2).allSatisfy(event -> assertThat(event.holds).isEmpty());
    }
}
