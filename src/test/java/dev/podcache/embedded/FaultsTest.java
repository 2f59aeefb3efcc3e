package dev.podcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FaultsTest {

    private static final ApiRequest GET = new ApiRequest(Verb.GET, Resource.SECRETS, ObjectKey.of("shop", "db"));
    private static final ApiRequest WATCH = new ApiRequest(Verb.WATCH, Resource.PODS, ObjectKey.of("", ""));

    private final Faults faults = new Faults();

    @Test
    void outcomeOf_nothingSwitchedOn_isToPass() {
        assertThat(faults.outcomeOf(GET)).isInstanceOf(RequestOutcome.Pass.class);
    }

    @Test
    void failNext_twice_failsTwiceThenPasses() {
        faults.failNext(2, StatusException.internalError(), RequestPattern.any());

        assertThat(List.of(faults.outcomeOf(GET), faults.outcomeOf(GET)))
                .allMatch(outcome -> outcome instanceof RequestOutcome.Fail);
        assertThat(faults.outcomeOf(GET)).isInstanceOf(RequestOutcome.Pass.class);
    }

    @Test
    void outcomeOf_faultsThatAreOver_areDropped() {
        faults.failNext(1, StatusException.internalError(), RequestPattern.any());
        faults.holdNext(1, RequestPattern.any()).release();
        faults.delay(Duration.ofSeconds(1), RequestPattern.any());

        faults.outcomeOf(GET);

        assertThat(faults.size()).as("the delay, which never ends by itself").isEqualTo(1);
    }

    @Test
    void outcomeOf_manyAtOnce_areFailedAsOftenAsAsked() {
        faults.failNext(60_000, StatusException.internalError(), RequestPattern.any());
        faults.failNext(30_000, StatusException.internalError(), RequestPattern.any());

        long failed = IntStream.range(0, 100_000)
                .parallel()
                .filter(i -> faults.outcomeOf(GET) instanceof RequestOutcome.Fail)
                .count();

        assertThat(failed).isEqualTo(90_000);
        assertThat(faults.size()).isZero();
    }

    @Test
    void outcomeOf_twoFaults_isDecidedByTheFirst() {
        faults.delay(Duration.ofSeconds(1), RequestPattern.any());
        faults.refuse(RequestPattern.any());

        assertThat(faults.outcomeOf(GET)).isEqualTo(new RequestOutcome.Delay(Duration.ofSeconds(1)));
    }

    @Test
    void outcomeOf_otherRequests_areNotConcerned() {
        RequestPattern pattern =
                RequestPattern.any().verb(Verb.GET).resource(Resource.SECRETS).key(ObjectKey.of("shop", "db"));
        faults.refuse(pattern);

        assertThat(faults.outcomeOf(GET)).isInstanceOf(RequestOutcome.Refuse.class);
        assertThat(faults.outcomeOf(WATCH)).isInstanceOf(RequestOutcome.Pass.class);
        assertThat(faults.outcomeOf(new ApiRequest(Verb.GET, Resource.CONFIG_MAPS, GET.key())))
                .isInstanceOf(RequestOutcome.Pass.class);
        assertThat(faults.outcomeOf(new ApiRequest(Verb.GET, Resource.SECRETS, ObjectKey.of("shop", "other"))))
                .isInstanceOf(RequestOutcome.Pass.class);
    }

    @Test
    void switchedOff_fault_isOver() {
        Faults.Switched fault = faults.refuse(RequestPattern.any());

        fault.close();

        assertThat(faults.outcomeOf(GET)).isInstanceOf(RequestOutcome.Pass.class);
    }

    @Test
    void hold_afterRelease_holdsNoMore() {
        HeldRequests held = faults.hold(RequestPattern.any());
        assertThat(faults.outcomeOf(GET)).isEqualTo(new RequestOutcome.Hold(held));

        held.release();

        assertThat(faults.outcomeOf(GET)).isInstanceOf(RequestOutcome.Pass.class);
    }

    @Test
    void clear_heldRequests_areReleased() {
        HeldRequests held = faults.hold(RequestPattern.any());

        faults.clear();

        assertThat(held.arrive()).isDone();
    }

    /** It has nothing to strike any more, but what it struck waits. */
    @Test
    void clear_holdThatIsUsedUp_isReleasedToo() {
        HeldRequests held = faults.holdNext(1, RequestPattern.any());
        faults.outcomeOf(GET);
        assertThat(faults.outcomeOf(GET)).isInstanceOf(RequestOutcome.Pass.class);

        faults.clear();

        assertThat(held.arrive()).isDone();
    }

    @Test
    void dropEvents_one_dropsOne() {
        faults.dropEvents(1, RequestPattern.any().resource(Resource.PODS));

        assertThat(faults.outcomeOfEvent(WATCH)).isEqualTo(EventOutcome.DROP);
        assertThat(faults.outcomeOfEvent(WATCH)).isEqualTo(EventOutcome.PASS);
        assertThat(faults.size()).isZero();
    }

    @Test
    void duplicateEvents_one_duplicatesOne() {
        faults.duplicateEvents(1, RequestPattern.any().resource(Resource.PODS));

        assertThat(faults.outcomeOfEvent(WATCH)).isEqualTo(EventOutcome.DUPLICATE);
        assertThat(faults.outcomeOfEvent(WATCH)).isEqualTo(EventOutcome.PASS);
        assertThat(faults.size()).isZero();
    }

    @Test
    void observe_requestsAndWatches_areTold() {
        List<String> told = new ArrayList<>();
        faults.observe(new RequestObserver() {
            @Override
            public void requested(ApiRequest request) {
                told.add("requested " + request.verb());
            }

            @Override
            public void opened(ApiRequest watch) {
                told.add("opened " + watch.verb());
            }

            @Override
            public void closed(ApiRequest watch) {
                told.add("closed " + watch.verb());
            }
        });
        faults.fail(StatusException.internalError(), RequestPattern.any());
        Faults.OpenedWatch watch = () -> {};

        faults.outcomeOf(GET);
        faults.opened(watch, WATCH);
        faults.closed(watch);
        faults.closed(watch);

        assertThat(told).containsExactly("requested GET", "opened WATCH", "closed WATCH");
    }

    @Test
    void resetWatches_openOnes_areResetIfTheyMatch() {
        List<String> reset = new ArrayList<>();
        Faults.OpenedWatch closed = () -> reset.add("closed");
        faults.opened(() -> reset.add("pods"), WATCH);
        faults.opened(() -> reset.add("secrets"), GET);
        faults.opened(closed, WATCH);
        faults.closed(closed);

        faults.resetWatches(RequestPattern.any().resource(Resource.PODS));

        assertThat(reset).containsExactly("pods");
    }
}
