package dev.podcache.manager;

import static dev.podcache.manager.OnBehalfFixture.MAIL;
import static dev.podcache.manager.OnBehalfFixture.TLS;
import static dev.podcache.manager.OnBehalfFixture.WEB;
import static dev.podcache.manager.OnBehalfFixture.owner;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.AccessReviews.Review;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectUnavailableException.Denied;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import dev.podcache.testing.ManualReviews;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;

/**
 * Two owners, two subjects and one object: whatever is registered, reviewed, failed and revoked in whatever order, a read
 * succeeds only by a review that counts. Once an owner's read was denied, none succeeds until a review has allowed it.
 */
class OnBehalfProperties {

    private enum OnBehalfStep {
        REGISTER_A_WEB,
        REGISTER_A_MAIL,
        REGISTER_A_NOBODY,
        REGISTER_B_WEB,
        UNREGISTER_A,
        UNREGISTER_B,
        ALLOW,
        DENY,
        FAIL,
        THROTTLE,
        ACCESS_CHANGED,
        TENTH,
        SECOND,
        TEN_SECONDS,
        FIVE_MINUTES,
        CHANGE_OBJECT
    }

    @Provide
    Arbitrary<List<OnBehalfStep>> steps() {
        return Arbitraries.of(OnBehalfStep.class).list().ofMinSize(1).ofMaxSize(40);
    }

    /** What the reviews of one subject allow, by the rules alone. */
    private static final class ReviewModel {

        /** When the present answer was given, if it allows; null if it does not. */
        private @Nullable Long allowedAt;

        /** Answers in a row that a change has overtaken: the third may count. */
        private int overtaken;
    }

    private static final class OnBehalfWorld {

        private final ManualTimekeeper time = new ManualTimekeeper();
        private final OnBehalfFixture cache = new OnBehalfFixture(time, ChangeDetectionStrategy.WATCH);
        private final Map<String, Referrer> registered = new HashMap<>();
        private final Map<String, Boolean> denied = new HashMap<>();
        private final Map<Subject, ReviewModel> models =
                new HashMap<>(Map.of(WEB, new ReviewModel(), MAIL, new ReviewModel()));
        private final Map<ManualReviews.Call, Long> begun = new HashMap<>();
        private final List<ObjectEvent<Secret>> events = new ArrayList<>();
        private long lastChange = Long.MIN_VALUE / 2;
        private int version;

        OnBehalfWorld() {
            cache.create(TLS, "v0");
            cache.secrets.listen(Runnable::run, event -> {
                events.add(event);
                if (event.current().isPresent() || event.previous().isPresent()) {
                    event.referrers()
                            .forEach(owner -> assertThat(mayRead(owner))
                                    .as("%s to %s", event, owner)
                                    .isTrue());
                }
            });
        }

        private boolean mayRead(Referrer owner) {
            Subject subject = owner.subject().orElse(null);
            return subject != null && Objects.requireNonNull(models.get(subject)).allowedAt != null;
        }

        private void register(String name, @Nullable Subject subject) {
            Referrer owner = owner(name, subject);
            Referrer before = registered.put(name, owner);
            if (before == null || !before.subject().equals(owner.subject())) {
                denied.remove(name);
            }
            cache.register(owner, TLS);
        }

        private void unregister(String name) {
            registered.remove(name);
            denied.remove(name);
            cache.managers.unregister(owner(name));
        }

        private void answer(boolean allowed) {
            note();
            if (!cache.reviews.open().isEmpty()) {
                ManualReviews.Call call = cache.reviews.next();
                boolean counts = Objects.requireNonNull(begun.get(call)) >= lastChange;
                ReviewModel model = Objects.requireNonNull(models.get(call.subject()));
                model.overtaken = counts ? 0 : model.overtaken + 1;
                if (counts || (allowed && model.overtaken >= 3)) {
                    model.allowedAt = allowed ? time.nanoTime() : null;
                    if (allowed) {
                        registered.forEach((name, owner) -> {
                            if (owner.subject().equals(Optional.ofNullable(call.subject()))) {
                                denied.remove(name);
                            }
                        });
                    }
                }
                call.answer().complete(new Review(allowed, "rule"));
            }
        }

        private void fail(FailureReason reason) {
            note();
            if (!cache.reviews.open().isEmpty()) {
                cache.reviews.next().fail(reason, null);
            }
        }

        /** Remembers when each review began: in the step in which it appeared. */
        private void note() {
            cache.reviews.open().forEach(call -> begun.putIfAbsent(call, steps));
        }

        private long steps;

        private void run(OnBehalfStep step) {
            steps++;
            switch (step) {
                case REGISTER_A_WEB -> register("a", WEB);
                case REGISTER_A_MAIL -> register("a", MAIL);
                case REGISTER_A_NOBODY -> register("a", null);
                case REGISTER_B_WEB -> register("b", WEB);
                case UNREGISTER_A -> unregister("a");
                case UNREGISTER_B -> unregister("b");
                case ALLOW -> answer(true);
                case DENY -> answer(false);
                case FAIL -> fail(FailureReason.UNAVAILABLE);
                case THROTTLE -> fail(FailureReason.THROTTLED);
                case ACCESS_CHANGED -> {
                    lastChange = steps;
                    cache.cached.accessChanged("shop");
                }
                case TENTH -> time.advance(Duration.ofMillis(100));
                case SECOND -> time.advance(Duration.ofSeconds(1));
                case TEN_SECONDS -> time.advance(Duration.ofSeconds(10));
                case FIVE_MINUTES -> time.advance(Duration.ofMinutes(5));
                case CHANGE_OBJECT -> cache.replace(TLS, "v" + ++version);
            }
            note();
            check(step);
        }

        private void check(OnBehalfStep step) {
            for (String name : List.of("a", "b")) {
                Referrer owner = registered.get(name);
                if (owner == null) {
                    assertThat(cache.secrets.peek(owner(name, WEB), "shop", "tls"))
                            .isEmpty();
                    continue;
                }
                Optional<Secret> seen = cache.secrets.peek(owner, "shop", "tls");
                if (seen.isPresent()) {
                    ReviewModel model = models.get(owner.subject().orElseThrow());
                    Long allowedAt = Objects.requireNonNull(model).allowedAt;
                    assertThat(allowedAt).as("%s read after %s", owner, step).isNotNull();
                    assertThat(time.nanoTime() - Objects.requireNonNull(allowedAt))
                            .isLessThan(Duration.ofMinutes(10).toNanos());
                    assertThat(denied).as("%s was denied", owner).doesNotContainKey(name);
                    assertThat(Secrets.value(seen.get())).isEqualTo("v" + version);
                    assertThat(cache.read(owner)).isEqualTo("v" + version);
                } else {
                    var read = cache.secrets.getObjectAsync(owner, "shop", "tls");
                    if (read.isCompletedExceptionally()) {
                        assertThat(read.handle((object, failure) -> failure).join())
                                .isInstanceOfAny(Denied.class, NotRegistered.class);
                        denied.put(name, true);
                    }
                }
            }
            assertThat(cache.secrets.peek("shop", "tls")).isEmpty();
        }
    }

    @Property(tries = 1000)
    void read_succeedsOnlyWhileAReviewAllowsIt(@ForAll("steps") List<OnBehalfStep> steps) {
        OnBehalfWorld world = new OnBehalfWorld();
        steps.forEach(world::run);
    }
}
