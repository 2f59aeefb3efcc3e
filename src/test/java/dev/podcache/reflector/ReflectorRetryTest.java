package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A failed attempt is repeated before its pause is over, because somebody has a reason to think that it succeeds. */
@ExtendWith(NoLeaks.class)
class ReflectorRetryTest {

    private static final Duration MILLI = Duration.ofMillis(1);
    private static final Duration SOONEST = Duration.ofMillis(250);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final Recovery recovery = new Recovery(time, () -> 0.5);
    private final ManualListerWatcher<String> server = new ManualListerWatcher<>();
    private final Reflector<String> reflector = reflector(server);

    private Reflector<String> reflector(ManualListerWatcher<String> of) {
        return new Reflector<>(of, new ReflectorFixture.RecordingSink(), recovery);
    }

    private static ApiServerException refusal() {
        return new ApiServerException(FailureReason.FORBIDDEN, 403, null, "refused", null);
    }

    private static ApiServerException unreachable() {
        return new ApiServerException(FailureReason.UNAVAILABLE, 0, null, "no connection", null);
    }

    /** Fails a few times, so that the pause is a long one. */
    private void refuseForLong() {
        reflector.start();
        for (int i = 1; i <= 8; i++) {
            server.fail(refusal());
            while (server.lists() == i) {
                time.advance(Duration.ofMillis(50));
            }
        }
        server.fail(refusal());
    }

    @Test
    void retry_isMadeAQuarterOfASecondAfterTheFailure() {
        refuseForLong();
        int lists = server.lists();
        reflector.retry();
        reflector.retry();
        time.advance(SOONEST.minus(MILLI));
        assertThat(server.lists()).isEqualTo(lists);
        time.advance(MILLI);
        assertThat(server.lists()).isEqualTo(lists + 1);

        reflector.close();
    }

    @Test
    void retry_laterThanThat_isMadeAtOnce() {
        refuseForLong();
        int lists = server.lists();
        time.advance(SOONEST);
        reflector.retry();

        assertThat(server.lists()).isEqualTo(lists + 1);
        reflector.close();
    }

    @Test
    void retry_thatFails_doesNotShortenTheNextPause() {
        refuseForLong();
        time.advance(SOONEST);
        reflector.retry();
        int lists = server.lists();
        server.fail(refusal());
        time.advance(Duration.ofSeconds(5));

        assertThat(server.lists()).isEqualTo(lists);
        reflector.close();
    }

    @Test
    void retry_whileAnAttemptIsMade_orBeforeAny_orAfterTheEnd_changesNothing() {
        reflector.retry();
        assertThat(server.lists()).isZero();
        reflector.start();
        reflector.retry();
        assertThat(server.lists()).isEqualTo(1);
        server.fail(refusal());
        reflector.close();
        reflector.retry();
        time.advance(Duration.ofMinutes(1));

        assertThat(server.lists()).isEqualTo(1);
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void failingFor_countsFromTheFirstFailureToTheFirstAnswer() {
        ManualListerWatcher<String> answers = new ManualListerWatcher<>();
        Reflector<String> failing = reflector(answers);
        failing.start();
        assertThat(recovery.failingFor()).isEmpty();

        answers.fail(unreachable());
        time.advance(Duration.ofSeconds(20));
        answers.fail(unreachable());

        assertThat(recovery.failingFor()).contains(Duration.ofSeconds(20));

        time.advance(Duration.ofMinutes(1));
        answers.answer("1", List.of());

        assertThat(recovery.failingFor()).isEmpty();
        failing.close();
    }

    /** One probe at a time asks whether the server is back. */
    @Test
    void retry_inAnOutage_doesNotShortenIt() {
        List<ManualListerWatcher<String>> servers =
                Stream.generate(ManualListerWatcher<String>::new).limit(5).toList();
        List<Reflector<String>> reflectors =
                servers.stream().map(this::reflector).toList();
        reflectors.forEach(Reflector::start);
        servers.forEach(each -> each.fail(unreachable()));
        assertThat(recovery.isFailing()).isTrue();
        time.advance(Duration.ofSeconds(20));
        int before = servers.stream().mapToInt(ManualListerWatcher::lists).sum();
        reflectors.forEach(Reflector::retry);
        time.advance(SOONEST);

        assertThat(servers.stream().mapToInt(ManualListerWatcher::lists).sum() - before)
                .isLessThanOrEqualTo(1);
        reflectors.forEach(Reflector::close);
    }
}
