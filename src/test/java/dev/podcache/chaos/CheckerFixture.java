package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.chaos.Claims.Epoch;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the tests of the checker have in common: an object that is {@code v1} from second 1 and
 * {@code v2} from second 20.
 */
class CheckerFixture {

    static final CachedObject DB = new CachedObject(CachedObject.CachedKind.SECRET, "db");
    static final ObjectKey KEY = ObjectKey.of("chaos", "db");
    static final Epoch SINCE_10 = new Epoch(seconds(10), seconds(10));

    static final Claims.Claim DB_HELD = held(SINCE_10);
    static final Claims.Claim FREE = new Claims.Claim(0, false, SINCE_10);

    final History history = new History();
    final Calm calm = new Calm();
    final Checker cache = checker(Rules.cache(), new Order());
    final Checker watch = checker(Rules.watch(Rules.Transport.HTTP2), new Order());
    final Checker direct = checker(Rules.get(), new Order());

    CheckerFixture() {
        calm.end(false, false);
        write("v1", 1);
        write("v2", 20);
    }

    /** That of one thread, whose answers are in an order with those of others. */
    final Checker checker(Rules rules, Order order) {
        return new Checker(rules, subject -> history, calm, new RunFigures(), order);
    }

    static Claims.Claim held(Epoch epoch) {
        return new Claims.Claim(1, false, epoch);
    }

    void write(@Nullable String marker, int at) {
        history.applied(history.propose(marker, false, seconds(at)), seconds(at));
    }

    /** A get that took no time, of a state that says FRESH. */
    static Read get(Claims.Claim claim, int at, ReadOutcome outcome) {
        ObjectState state = state(CacheState.FRESH, "1");
        return new Read(
                DB,
                new Read.Moment(seconds(at), claim, false, state),
                outcome,
                new Read.Moment(seconds(at), claim, true, state));
    }

    static Read seen(Read read) {
        Read.Moment before = read.before();
        return new Read(
                DB, new Read.Moment(before.time(), before.claim(), true, before.state()), read.outcome(), read.after());
    }

    static ObjectState state(CacheState phase, String version) {
        return new ObjectState(phase, version, null, null, 1, "");
    }

    static ReadOutcome found(String marker) {
        return new ReadOutcome.FoundObject(marker, "uid", "1");
    }

    static ReadOutcome notFound() {
        return new ReadOutcome.FailedRead(new NotFound(ObjectKind.SECRET, KEY, null));
    }

    static ReadOutcome notRegistered() {
        return new ReadOutcome.FailedRead(new NotRegistered(ObjectKind.SECRET, KEY));
    }

    static ReadOutcome failed(String message) {
        return new ReadOutcome.FailedRead(new FetchFailed(
                ObjectKind.SECRET, KEY, FailureReason.UNAVAILABLE, 0, null, new IllegalStateException(message)));
    }

    List<Shape> shapes(Checker checker, Read read) {
        return checker.judge(read).stream().map(Violation::shape).toList();
    }

    static void judge(Checker checker, Read read) {
        assertThat(checker.judge(read)).isEmpty();
    }

    static long seconds(int s) {
        return Duration.ofSeconds(s).toNanos();
    }
}
