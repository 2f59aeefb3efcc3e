package dev.podcache.chaos;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.Faults;
import dev.podcache.embedded.Faults.Switched;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.StatusException;
import dev.podcache.embedded.Verb;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;

/** What the embedded server does wrong to those who read: refusals, silence, half an event. Writes pass. */
final class AnswerFaults {

    private static final List<RequestPattern> READS = List.of(
            RequestPattern.any().verb(Verb.GET),
            RequestPattern.any().verb(Verb.LIST),
            RequestPattern.any().verb(Verb.WATCH));

    /** Long enough for most objects to be refreshed twice. */
    private static final int STALER_FOR = 1_200;

    private static final int OUTAGE_FOR =
            (int) Rules.LOSS_SEEN_WITHIN.plusMillis(600).toMillis();

    private final EmbeddedApiServer server;
    private final Faults faults;
    private final int longestRetryAfter;

    AnswerFaults(EmbeddedApiServer server, boolean lengthy) {
        this.server = server;
        this.longestRetryAfter = lengthy ? 4 : 2;
        this.faults = server.faults();
    }

    List<ChaosFault> all() {
        return List.of(
                answers("429", random -> StatusException.tooManyRequests(random.nextInt(1, longestRetryAfter))),
                answers("500", random -> StatusException.internalError()),
                outage(),
                answers("403", random -> StatusException.forbidden(Resource.of(Secret.class), "any")),
                answers("401", random -> StatusException.unauthorized()),
                answers("410", random -> StatusException.gone()),
                answers("504, version too large", random -> StatusException.tooLargeVersion(2_000_000, 1)),
                fault("requests refused", 4_000, random -> whileOn(faults::refuse)),
                fault("answers delayed", 6_000, random -> {
                    Duration delay = Duration.ofMillis(random.nextInt(50, 3_000));
                    return whileOn(pattern -> faults.delay(delay, pattern));
                }),
                fault("answers held", 5_000, random -> held(faults::hold)),
                fault("requests held", 5_000, random -> held(faults::holdBeforeReading)),
                fault(
                                "server's cache behind",
                                5_000,
                                ChaosFault.by(server.cluster()::holdWatchCache, server.cluster()::releaseWatchCache))
                        .leavingBehind(Rules.TTL),
                new ChaosFault(ChaosFault.Layer.SERVER, "second server staler", STALER_FOR, 5_000, random -> staler())
                        .leavingBehind(Rules.TTL),
                fault("events duplicated", 3_000, random -> duplicateEvents()),
                fault("events cut", 3_000, ChaosFault.by(this::cutEvents, this::resetWatches)),
                fault("history forgotten", 1_000, ChaosFault.by(this::forgetHistory, () -> {})));
    }

    private static ChaosFault fault(String kind, int longest, ChaosFault.Strike strike) {
        return new ChaosFault(ChaosFault.Layer.SERVER, kind, 300, longest, strike);
    }

    /** Long enough to see whether those who lose their watches say so. */
    private ChaosFault outage() {
        return new ChaosFault(ChaosFault.Layer.SERVER, "answered 503", OUTAGE_FOR, 5_000, random -> {
                    ChaosFault.Mend mend =
                            whileOn(pattern -> faults.fail(StatusException.serviceUnavailable(), pattern));
                    resetWatches();
                    return mend;
                })
                .showing(Rules.LOSS_SEEN_WITHIN);
    }

    private ChaosFault.Mend staler() {
        server.cluster().alternateWithStalerServer(true);
        return () -> server.cluster().alternateWithStalerServer(false);
    }

    private ChaosFault.Mend duplicateEvents() {
        return faults.duplicateEvents(Integer.MAX_VALUE, RequestPattern.any())::close;
    }

    /** Those who are connected have to come again. */
    private ChaosFault answers(String code, Function<SplittableRandom, StatusException> error) {
        return fault("answered " + code, 5_000, random -> {
            StatusException chosen = error.apply(random);
            ChaosFault.Mend mend = whileOn(pattern -> faults.fail(chosen, pattern));
            if (random.nextBoolean()) {
                resetWatches();
            }
            return mend;
        });
    }

    private static ChaosFault.Mend whileOn(Function<RequestPattern, Switched> fault) {
        List<Switched> on = new ArrayList<>();
        READS.forEach(pattern -> on.add(fault.apply(pattern)));
        return () -> on.forEach(Switched::close);
    }

    private ChaosFault.Mend held(Function<RequestPattern, HeldRequests> hold) {
        List<HeldRequests> holds = READS.stream().map(hold).toList();
        return () -> holds.forEach(HeldRequests::release);
    }

    private void cutEvents() {
        for (int i = 0; i < 5; i++) {
            faults.cutNextEvent(RequestPattern.any());
        }
    }

    private void forgetHistory() {
        resetWatches();
        server.cluster().forgetHistory();
    }

    private void resetWatches() {
        faults.resetWatches(RequestPattern.any());
    }
}
