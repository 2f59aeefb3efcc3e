package dev.podcache.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.AccessReviews.Review;
import dev.podcache.apiserver.CachedReviews.Followed;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Subject;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.FailingTimekeeper;
import dev.podcache.testing.ManualReviews;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Whatever throws in the midst of a review, the reviews go on. */
@ExtendWith(NoLeaks.class)
class ReviewSurvivalTest {

    private static final Subject WEB = Subject.serviceAccount("shop", "web");

    /** More calls of the clock than any step here makes. */
    private static final int MOST_CALLS = 30;

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final FailingTimekeeper failing = new FailingTimekeeper(time);

    private static ResourceAccess get(String name) {
        return ResourceAccess.of(ObjectKind.SECRET, ObjectKey.of("shop", name), "get");
    }

    /** Requires that the pair is allowed soon, that as many reviews as ever can be in flight, and that close leaves nothing. */
    private void requireSound(CachedReviews reviews, ManualReviews server, Followed followed, String when) {
        time.advance(Duration.ofSeconds(1));
        server.open().forEach(call -> call.answer(true));
        time.advance(Duration.ofSeconds(1));
        server.open().forEach(call -> call.answer(true));
        assertThat(followed.isAllowed()).as("allowed after a throw %s", when).isTrue();
        assertThat(followed.decided()).as("decided after a throw %s", when).isDone();
        List<Followed> many = new ArrayList<>();
        for (int i = 0; i < 2 * CachedReviews.FIRST_IN_FLIGHT; i++) {
            many.add(reviews.follow(WEB, get("many" + i), () -> {}));
        }
        assertThat(server.open()).as("in flight after a throw %s", when).hasSize(CachedReviews.FIRST_IN_FLIGHT);
        while (!server.open().isEmpty()) {
            server.next().answer(true);
        }
        assertThat(many).as("all after a throw %s", when).allMatch(Followed::isAllowed);
        reviews.close();
        assertThat(time.scheduledTasks()).as("timers after a throw %s", when).isZero();
    }

    @Test
    @ExpectedWarnings("reviews were interrupted")
    void answer_theClockBreaksAtAnyStepOfIt_goesOn() {
        for (int step = 1; step <= MOST_CALLS; step++) {
            ManualReviews server = new ManualReviews();
            CachedReviews reviews = new CachedReviews(server, false, failing, () -> 0.5);
            Followed tls = reviews.follow(WEB, get("tls"), () -> {});

            failing.throwAt(step);
            server.next().answer(true);
            failing.throwNoMore();

            requireSound(reviews, server, tls, "at call " + step + " of an answer");
        }
    }

    @Test
    @ExpectedWarnings("reviews were interrupted")
    void reviewThatCannotBeSent_andTheClockBreaks_goesOn() {
        for (int step = 1; step <= MOST_CALLS; step++) {
            ManualReviews server = new ManualReviews();
            List<Integer> unsent = new ArrayList<>(List.of(1));
            CachedReviews reviews = new CachedReviews(unsendable(server, unsent), false, failing, () -> 0.5);

            failing.throwAt(step);
            Followed tls = follow(reviews);
            failing.throwNoMore();

            requireSound(reviews, server, tls, "at call " + step + " of a request that could not be sent");
        }
    }

    /** Follows; again if that throws, which it may. */
    private Followed follow(CachedReviews reviews) {
        try {
            return reviews.follow(WEB, get("tls"), () -> {});
        } catch (IllegalStateException e) {
            assertThat(e).hasMessage(FailingTimekeeper.MESSAGE);
            return reviews.follow(WEB, get("tls"), () -> {});
        }
    }

    /** Returns reviews whose first futures, one for each element, throw when they are used. */
    private static AccessReviews unsendable(ManualReviews server, List<Integer> left) {
        return new AccessReviews() {
            @Override
            public CompletableFuture<Review> review(Subject subject, ResourceAccess access) {
                if (left.isEmpty()) {
                    return server.review(subject, access);
                }
                left.remove(0);
                return new CompletableFuture<>() {
                    @Override
                    public CompletableFuture<Review> whenComplete(
                            BiConsumer<? super Review, ? super Throwable> action) {
                        throw new OutOfMemoryError("of a stage");
                    }
                };
            }

            @Override
            public CompletableFuture<Optional<Subject>> reviewToken(String token) {
                return server.reviewToken(token);
            }
        };
    }

    @Test
    @ExpectedWarnings("reviews were interrupted")
    void timer_theClockBreaksAtAnyStepOfIt_goesOn() {
        for (int step = 1; step <= MOST_CALLS; step++) {
            ManualReviews server = new ManualReviews();
            CachedReviews reviews = new CachedReviews(server, false, failing, () -> 0.5);
            Followed tls = reviews.follow(WEB, get("tls"), () -> {});
            server.next().answer(false);

            failing.throwAt(step);
            time.advance(CachedReviews.DENIED_FOR);
            failing.throwNoMore();

            requireSound(reviews, server, tls, "at call " + step + " of a timer");
        }
    }

    @Test
    @ExpectedWarnings("reviews were interrupted")
    void accessChanged_theClockBreaksAtAnyStepAfterIt_goesOn() {
        for (int step = 1; step <= MOST_CALLS; step++) {
            ManualReviews server = new ManualReviews();
            CachedReviews reviews = new CachedReviews(server, false, failing, () -> 0.5);
            Followed tls = reviews.follow(WEB, get("tls"), () -> {});
            server.next().answer(false);
            reviews.accessChanged("shop");

            failing.throwAt(step);
            time.advance(CachedReviews.GATHER);
            failing.throwNoMore();

            requireSound(reviews, server, tls, "at call " + step + " of what follows a change");
        }
    }
}
