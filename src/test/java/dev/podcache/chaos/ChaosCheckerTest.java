package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.chaos.Claims.Epoch;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Phase;
import dev.podcache.store.ObjectState;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The checker complains of each broken promise, and of nothing else. Times are in seconds. */
class ChaosCheckerTest {

    private static final Subject DB = new Subject(Subject.Kind.SECRET, "db");
    private static final ObjectKey KEY = ObjectKey.of("chaos", "db");
    private static final Epoch SINCE_10 = new Epoch(seconds(10), seconds(10));

    private final History history = new History();
    private final Calm calm = new Calm();
    private final Checker cache = new Checker(Rules.cache(), subject -> history, calm, new Figures());
    private final Checker watch = new Checker(Rules.watch(), subject -> history, calm, new Figures());

    ChaosCheckerTest() {
        calm.end();
        write("v1", 1);
        write("v2", 20);
    }

    // P1: registered at 10, replaced at 20

    @Test
    void answer_thatWasTheServersAfterTheRegistration_isFine() {
        assertThat(promises(cache, get(DB_HELD, 21, found("v1")))).isEmpty();
    }

    @Test
    void answer_thatWasGoneBeforeTheRegistration_breaksP1() {
        Claims.Claim held = held(new Epoch(seconds(22), seconds(10)));

        assertThat(promises(cache, get(held, 23, found("v1")))).containsExactly("P1");
    }

    @Test
    void answer_thatWasGoneBeforeANewReferenceButNotTheFirst_isFineUnderWatch() {
        Claims.Claim held = held(new Epoch(seconds(22), seconds(10)));

        assertThat(promises(watch, get(held, 23, found("v1")))).isEmpty();
    }

    @Test
    void answer_thatWasGoneBeforeTheFirstReference_breaksP1UnderWatch() {
        assertThat(promises(watch, get(held(new Epoch(seconds(22), seconds(22))), 23, found("v1"))))
                .containsExactly("P1");
    }

    @Test
    void answer_whoseSuccessorIsBeingWritten_isFine() {
        history.propose("v3", false, seconds(21));

        assertThat(promises(cache, get(held(new Epoch(seconds(22), seconds(22))), 23, found("v2"))))
                .isEmpty();
    }

    @Test
    void answer_thatNobodyWrote_breaksP1() {
        assertThat(promises(cache, get(DB_HELD, 21, found("v9")))).containsExactly("P1");
    }

    @Test
    void answer_whoseWriteDidNotHappen_breaksP1() {
        history.refused(history.propose("v3", false, seconds(21)));

        assertThat(promises(cache, get(DB_HELD, 22, found("v3")))).containsExactly("P1");
    }

    @Test
    void notFound_althoughPresentSinceTheRegistration_breaksP1() {
        assertThat(promises(cache, get(DB_HELD, 21, notFound()))).containsExactly("P1");
    }

    @Test
    void notFound_whileADeletionIsUnderWay_isFine() {
        history.propose(null, false, seconds(21));

        assertThat(promises(cache, get(DB_HELD, 22, notFound()))).isEmpty();
    }

    // P2

    @Test
    void answer_olderThanOneBefore_breaksP2() {
        judge(cache, get(DB_HELD, 21, found("v2")));

        assertThat(promises(cache, get(DB_HELD, 22, found("v1")))).containsExactly("P2");
    }

    @Test
    void answer_olderThanOneBeforeANewReference_isFine() {
        judge(cache, get(DB_HELD, 21, found("v2")));

        assertThat(promises(cache, get(held(new Epoch(seconds(15), seconds(10))), 22, found("v1"))))
                .isEmpty();
    }

    @Test
    void notFound_fromBeforeWhatWasSeen_breaksP2() {
        write(null, 30);
        write("v3", 31);
        judge(cache, get(DB_HELD, 32, found("v3")));

        assertThat(promises(cache, get(DB_HELD, 33, notFound()))).containsExactly("P2");
    }

    @Test
    void answer_fromBeforeTheAbsenceThatWasSeen_breaksP2() {
        write(null, 30);
        judge(cache, get(DB_HELD, 32, notFound()));

        assertThat(promises(cache, get(DB_HELD, 33, found("v2")))).containsExactly("P2");
    }

    // P4

    @Test
    void failure_beforeTheObjectWasSeen_isFine() {
        assertThat(promises(cache, get(DB_HELD, 21, failed("refused")))).isEmpty();
    }

    @Test
    void failure_afterTheObjectWasSeen_breaksP4() {
        assertThat(promises(cache, seen(get(DB_HELD, 21, failed("refused"))))).containsExactly("P4");
    }

    @Test
    void failure_whileANewReferenceCame_isFine() {
        Read read = seen(get(DB_HELD, 21, failed("refused")));
        Read.Moment after =
                new Read.Moment(seconds(22), held(new Epoch(seconds(21), 0)), false, state(Phase.UNREAD, ""));

        assertThat(promises(cache, new Read(DB, read.before(), read.outcome(), after)))
                .isEmpty();
    }

    @Test
    void exception_thatGetsDoNotThrow_breaksP4() {
        assertThat(promises(cache, get(DB_HELD, 21, new Outcome.Failed(new IllegalStateException("bug")))))
                .containsExactly("P4");
    }

    // P5 and P6

    @Test
    void answer_whenNobodyRefersToIt_breaksP5() {
        assertThat(promises(cache, get(FREE, 21, found("v2")))).containsExactly("P5");
        assertThat(promises(cache, get(FREE, 21, failed("refused")))).containsExactly("P5");
    }

    @Test
    void notRegistered_whenNobodyRefersToIt_isFine() {
        assertThat(promises(cache, get(FREE, 21, notRegistered()))).isEmpty();
    }

    @Test
    void notRegistered_althoughReferredTo_breaksP6() {
        assertThat(promises(cache, get(DB_HELD, 21, notRegistered()))).containsExactly("P6");
    }

    // P8

    @Test
    void get_thatTakesLongerThanItMay_breaksP8() {
        Read read = get(DB_HELD, 21, found("v2"));
        Read.Moment after =
                new Read.Moment(seconds(35), DB_HELD, true, read.after().state());

        assertThat(promises(cache, new Read(DB, read.before(), read.outcome(), after)))
                .containsExactly("P8");
    }

    @Test
    void getOfAKnownObject_thatWaitsForTheReadTimeout_breaksP8() {
        Read read = seen(get(DB_HELD, 21, found("v2")));
        Read.Moment after =
                new Read.Moment(seconds(31), DB_HELD, true, read.after().state());

        assertThat(promises(cache, new Read(DB, read.before(), read.outcome(), after)))
                .containsExactly("P8");
    }

    // P9

    @Test
    void fresh_longAfterItWasReplaced_breaksP9() {
        assertThat(promises(cache, get(DB_HELD, 60, found("v1")))).containsExactly("P9");
        assertThat(promises(watch, get(DB_HELD, 60, found("v1")))).containsExactly("P9");
    }

    @Test
    void fresh_inCalm_isHeldToLess() {
        assertThat(promises(watch, get(DB_HELD, 40, found("v1")))).isEmpty();
        calm.begin(seconds(21));

        assertThat(promises(watch, get(DB_HELD, 40, found("v1")))).containsExactly("P9");
    }

    @Test
    void stale_longAfterItWasReplaced_isFine() {
        Read fresh = get(DB_HELD, 60, found("v1"));
        Read.Moment before = new Read.Moment(seconds(60), DB_HELD, true, state(Phase.STALE, "1"));

        assertThat(promises(cache, new Read(DB, before, fresh.outcome(), fresh.after())))
                .isEmpty();
    }

    @Test
    void immutable_longAfterItWasReplaced_isFine() {
        Version forEver = history.propose("v3", true, seconds(30));
        history.applied(forEver, seconds(31));
        write(null, 32);

        assertThat(promises(cache, get(DB_HELD, 90, found("v3")))).isEmpty();
    }

    @Test
    void watchedAbsence_longAfterItEnded_breaksP9() {
        Read absent = get(held(new Epoch(0, 0)), 60, notFound());
        Read.Moment before = new Read.Moment(seconds(60), absent.before().claim(), false, state(Phase.ABSENT, ""));
        Read.Moment after = new Read.Moment(seconds(60), absent.before().claim(), true, state(Phase.ABSENT, ""));

        assertThat(promises(watch, new Read(DB, before, absent.outcome(), after)))
                .containsExactly("P9");
    }

    // P10

    @Test
    void payloadInAMessage_breaksP10() {
        assertThat(promises(cache, get(DB_HELD, 21, failed(Canary.TEXT + "v1"))))
                .containsExactly("P10");
        assertThat(promises(cache, get(DB_HELD, 21, failed("Y2hhb3MtY2FuYXJ5LTllMDdhYjQ0Yw=="))))
                .containsExactly("P10");
    }

    @Test
    void payloadInAState_breaksP10() {
        Read read = get(DB_HELD, 21, found("v2"));
        Read.Moment before = new Read.Moment(seconds(21), DB_HELD, false, state(Phase.FRESH, Canary.TEXT));

        assertThat(promises(cache, new Read(DB, before, read.outcome(), read.after())))
                .containsExactly("P10");
    }

    private static final Claims.Claim DB_HELD = held(SINCE_10);
    private static final Claims.Claim FREE = new Claims.Claim(0, false, SINCE_10);

    private static Claims.Claim held(Epoch epoch) {
        return new Claims.Claim(1, false, epoch);
    }

    private void write(@Nullable String marker, int at) {
        history.applied(history.propose(marker, false, seconds(at)), seconds(at));
    }

    /** A get that took no time, of a state that says FRESH. */
    private static Read get(Claims.Claim claim, int at, Outcome outcome) {
        ObjectState state = state(Phase.FRESH, "1");
        return new Read(
                DB,
                new Read.Moment(seconds(at), claim, false, state),
                outcome,
                new Read.Moment(seconds(at), claim, true, state));
    }

    private static Read seen(Read read) {
        Read.Moment before = read.before();
        return new Read(
                DB, new Read.Moment(before.time(), before.claim(), true, before.state()), read.outcome(), read.after());
    }

    private static ObjectState state(Phase phase, String version) {
        return new ObjectState(phase, version, null, null, 1, "");
    }

    private static Outcome found(String marker) {
        return new Outcome.Found(marker, "uid", "1");
    }

    private static Outcome notFound() {
        return new Outcome.Failed(new NotFound(ObjectKind.SECRET, KEY, null));
    }

    private static Outcome notRegistered() {
        return new Outcome.Failed(new NotRegistered(ObjectKind.SECRET, KEY));
    }

    private static Outcome failed(String message) {
        return new Outcome.Failed(new FetchFailed(
                ObjectKind.SECRET, KEY, FailureReason.UNAVAILABLE, 0, null, new IllegalStateException(message)));
    }

    private List<String> promises(Checker checker, Read read) {
        return checker.judge(read).stream().map(Violation::promise).toList();
    }

    private static void judge(Checker checker, Read read) {
        assertThat(checker.judge(read)).isEmpty();
    }

    private static long seconds(int s) {
        return Duration.ofSeconds(s).toNanos();
    }
}
