package dev.podcache.kubelet.events;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ForwardingObjectApi;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TooManyRequests;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.EventSourceBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Records events with an in-memory cluster and hand-driven time, and checks what is written. */
@ExtendWith(NoLeaks.class)
class EventBroadcasterTest {

    private static final ObjectReference WEB = new ObjectReferenceBuilder()
            .withKind("Pod")
            .withApiVersion("v1")
            .withNamespace("shop")
            .withName("web")
            .withUid("uid-1")
            .build();

    private double random = 0.5;
    private final ManualTimekeeper time = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(time);
    private final EventBroadcaster events = new EventBroadcaster(
            server.api(ObjectKind.EVENT, Duration.ofSeconds(10)),
            new EventSourceBuilder()
                    .withComponent("kubelet")
                    .withHost("worker-1")
                    .build(),
            time,
            () -> random);

    @BeforeEach
    void createNamespace() {
        server.cluster()
                .create(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName("shop")
                        .endMetadata()
                        .build());
    }

    @AfterEach
    void tearDown() {
        events.close();
        server.close();
    }

    @Test
    void event_first_isCreatedWithAllThatUpstreamWrites() {
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");

        Event written = only();
        assertThat(written.getMetadata().getName()).isEqualTo("web." + hexTime());
        assertThat(written)
                .usingRecursiveComparison()
                .ignoringFields("metadata", "apiVersion", "kind", "additionalProperties")
                .isEqualTo(new EventBuilder()
                        .withInvolvedObject(WEB)
                        .withType("Warning")
                        .withReason("Failed")
                        .withMessage("no image")
                        .withNewSource()
                        .withComponent("kubelet")
                        .withHost("worker-1")
                        .endSource()
                        .withReportingComponent("kubelet")
                        .withReportingInstance("worker-1")
                        .withCount(1)
                        .withFirstTimestamp("2026-01-01T00:00:00Z")
                        .withLastTimestamp("2026-01-01T00:00:00Z")
                        .build());
    }

    @Test
    void event_aboutANode_isWrittenToTheDefaultNamespace() {
        events.event(
                new ObjectReferenceBuilder()
                        .withKind("Node")
                        .withName("worker-1")
                        .withUid("worker-1")
                        .build(),
                EventRecorder.EventType.NORMAL,
                "NodeReady",
                "Node worker-1 status is now: NodeReady");

        assertThat(server.sent().get(0).key().namespace()).isEqualTo("default");
    }

    @Test
    void event_repeated_isCountedByAPatch() {
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        time.advance(Duration.ofSeconds(90));
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");

        Event written = only();
        assertThat(written.getCount()).isEqualTo(2);
        assertThat(written.getFirstTimestamp()).isEqualTo("2026-01-01T00:00:00Z");
        assertThat(written.getLastTimestamp()).isEqualTo("2026-01-01T00:01:30Z");
        assertThat(server.sent().get(1).body())
                .isEqualTo("{\"count\":2,\"lastTimestamp\":\"2026-01-01T00:01:30Z\",\"message\":\"no image\"}");
    }

    @Test
    void event_repeatedAboutAnotherContainer_isAnotherEvent() {
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        events.event(container("one"), EventRecorder.EventType.WARNING, "Failed", "no image");

        assertThat(verbs()).containsExactly(Verb.CREATE, Verb.CREATE);
    }

    @Test
    void event_repeatedAfterTheServerForgotIt_isCreatedAgainWithItsCount() {
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        server.cluster().delete(only());
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");

        assertThat(verbs()).containsExactly(Verb.CREATE, Verb.PATCH, Verb.CREATE);
        assertThat(only().getCount()).isEqualTo(2);
    }

    @Test
    void event_nineMessages_areNineEvents() {
        recordMessages(9);

        assertThat(stored()).hasSize(9);
    }

    @Test
    void event_manyMessages_areCombinedFromTheTenthOn() {
        recordMessages(14);

        assertThat(stored()).hasSize(10);
        Event combined = stored().stream()
                .filter(event -> event.getCount() > 1)
                .findFirst()
                .orElseThrow();
        assertThat(combined.getCount()).isEqualTo(5);
        assertThat(combined.getMessage()).isEqualTo("(combined from similar events): message 13");
    }

    @Test
    void event_manyMessagesWithTenQuietMinutesBetween_areNotCombined() {
        recordMessages(9);
        time.advance(Duration.ofMinutes(10).plusNanos(1));
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "another");

        assertThat(stored()).hasSize(10).allMatch(event -> event.getCount() == 1);
    }

    @Test
    void event_manyAboutOneObject_areDroppedAfterTwentyFive() {
        for (int i = 0; i < 100; i++) {
            events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        }

        assertThat(server.actions()).hasSize(25);
    }

    @Test
    void event_limitReached_oneEveryFiveMinutesPasses() {
        for (int i = 0; i < 100; i++) {
            events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        }
        server.clearActions();
        for (int i = 0; i < 60; i++) {
            time.advance(Duration.ofMinutes(1));
            events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        }

        assertThat(server.actions()).hasSize(12);
        assertThat(only().getCount()).isEqualTo(160);
    }

    @Test
    void event_manyAboutOnePod_othersAreWritten() {
        for (int i = 0; i < 100; i++) {
            events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        }
        server.clearActions();
        events.event(WEB.edit().withUid("uid-2").build(), EventRecorder.EventType.WARNING, "Failed", "no image");

        assertThat(verbs()).containsExactly(Verb.CREATE);
    }

    @ParameterizedTest
    @EnumSource(names = {"UNAVAILABLE", "TIMEOUT", "THROTTLED"})
    void write_mayPass_isTriedAgainAfterARandomPauseAndThenTenSeconds(FailureReason reason) {
        server.failNext(2, failure(reason));
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");

        time.advance(Duration.ofMillis(4999));
        assertThat(server.actions()).hasSize(1);
        time.advance(Duration.ofMillis(1));
        assertThat(server.actions()).hasSize(2);
        time.advance(Duration.ofSeconds(10));
        assertThat(only().getMessage()).isEqualTo("no image");
    }

    @Test
    void write_serverAway_isGivenUpAfterTwelveTries(NoLeaks leaks) {
        leaks.allowWarnings("event Failed about Pod web was not written");
        server.failNext(Integer.MAX_VALUE, failure(FailureReason.UNAVAILABLE));
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        time.advance(Duration.ofHours(1));

        assertThat(server.actions()).hasSize(12);
        server.clearFailures();
        events.event(WEB, EventRecorder.EventType.NORMAL, "Pulled", "it is there");
        assertThat(only().getReason()).isEqualTo("Pulled");
    }

    @ParameterizedTest
    @EnumSource
    void write_throttledForTwoSeconds_isNotTriedAgainBefore(TooManyRequests said) {
        random = 0;
        server.failNext(1, said.answer());
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");

        time.advance(Duration.ofMillis(1999));
        assertThat(server.actions()).hasSize(1);
        time.advance(Duration.ofMillis(1));
        assertThat(only().getMessage()).isEqualTo("no image");
    }

    @Test
    void write_givenUpWhileThrottled_theNextEventWaitsToo(NoLeaks leaks) {
        leaks.allowWarnings("event Failed about Pod web was not written");
        server.failNext(11, failure(FailureReason.UNAVAILABLE));
        server.failNext(1, TooManyRequests.SECONDS.answer());
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        events.event(WEB, EventRecorder.EventType.NORMAL, "Pulled", "it is there");
        time.advance(Duration.ofSeconds(5 + 10 * 10));
        assertThat(server.actions()).hasSize(12);

        time.advance(Duration.ofMillis(1999));
        assertThat(server.actions()).hasSize(12);
        time.advance(Duration.ofMillis(1));
        assertThat(only().getReason()).isEqualTo("Pulled");
    }

    @ParameterizedTest
    @EnumSource(names = {"ALREADY_EXISTS", "FORBIDDEN", "REJECTED"})
    void write_refused_isNotTriedAgain(FailureReason reason, NoLeaks leaks) {
        leaks.allowWarnings("was not written");
        server.failNext(1, failure(reason));
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        time.advance(Duration.ofHours(1));

        assertThat(server.actions()).hasSize(1);
    }

    @Test
    void write_refusedAgain_isWarnedOfOnlyOnce(NoLeaks leaks) {
        leaks.allowWarnings("event Failed about Pod web was not written");
        server.failNext(2, failure(FailureReason.FORBIDDEN));

        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        events.event(WEB, EventRecorder.EventType.NORMAL, "Killing", "it must go");

        assertThat(server.actions()).hasSize(2);
    }

    /** A webhook, or another writer of the event, may have set any count. */
    @Test
    void written_answeredWithTheLargestCount_staysThere() {
        List<String> patches = new ArrayList<>();
        ObjectApi<Event> counting = new ForwardingObjectApi<>(server.api(ObjectKind.EVENT, Duration.ofSeconds(10))) {
            @Override
            public CompletableFuture<Event> create(Event event) {
                return CompletableFuture.completedFuture(
                        new EventBuilder(event).withCount(Integer.MAX_VALUE).build());
            }

            @Override
            public CompletableFuture<Event> patch(ObjectKey key, String patch) {
                patches.add(patch);
                return CompletableFuture.completedFuture(
                        new EventBuilder().withNewMetadata().endMetadata().build());
            }
        };
        try (EventBroadcaster other = EventBroadcaster.to(counting, "kubelet", "worker-1", time)) {
            other.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
            other.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        }

        assertThat(patches).singleElement().asString().startsWith("{\"count\":2147483647,");
    }

    /** A webhook may remove the count. */
    @Test
    void written_answeredWithoutACount_nextOneIsWrittenToo() {
        List<Event> created = new ArrayList<>();
        ObjectApi<Event> forgetful = new ForwardingObjectApi<>(server.api(ObjectKind.EVENT, Duration.ofSeconds(10))) {
            @Override
            public CompletableFuture<Event> create(Event event) {
                created.add(event);
                return CompletableFuture.completedFuture(
                        new EventBuilder(event).withCount(null).build());
            }

            @Override
            public CompletableFuture<Event> patch(ObjectKey key, String patch) {
                throw new AssertionError("nothing is repeated");
            }
        };
        try (EventBroadcaster other = EventBroadcaster.to(forgetful, "kubelet", "worker-1", time)) {
            other.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
            other.event(WEB, EventRecorder.EventType.NORMAL, "Pulled", "an image");
        }

        assertThat(created).extracting(Event::getReason).containsExactly("Failed", "Pulled");
    }

    @Test
    void event_whileOneIsStuck_waitsForItsTurn() {
        server.faults().delay(Duration.ofSeconds(2), RequestPattern.any());
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");

        assertThat(server.actions()).hasSize(1);
        time.advance(Duration.ofSeconds(4));
        assertThat(only().getCount()).isEqualTo(2);
    }

    @Test
    void event_tooManyWaiting_areLostWithoutBlocking(NoLeaks leaks) {
        leaks.allowWarnings("1000 events wait for the API server; further events are lost");
        server.failNext(1, failure(FailureReason.UNAVAILABLE));
        for (int i = 0; i < 1500; i++) {
            events.event(WEB.edit().withUid("uid-" + i).build(), EventRecorder.EventType.WARNING, "Failed", "no image");
        }
        time.advance(Duration.ofSeconds(10));

        assertThat(server.sent().stream()
                        .map(FakeApiServer.Sent::key)
                        .distinct()
                        .count())
                .isEqualTo(1001);
    }

    @Test
    void close_whileOneIsTriedAgain_writesNoMore() {
        server.failNext(1, failure(FailureReason.UNAVAILABLE));
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");

        events.close();
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "another");

        assertThat(time.scheduledTasks()).isZero();
        assertThat(server.actions()).hasSize(1);
    }

    /** The request fails because its connection is closed after the broadcaster. */
    @Test
    void close_duringTheLastTryThatFailsThen_isNotReported() {
        server.failNext(11, failure(FailureReason.UNAVAILABLE));
        events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "no image");
        time.advance(Duration.ofSeconds(5 + 9 * 10));
        HeldRequests held = server.faults().hold(RequestPattern.any());
        time.advance(Duration.ofSeconds(10));
        assertThat(held.arrivals()).isEqualTo(1);

        events.close();
        time.advance(Duration.ofSeconds(10));

        // NoLeaks checks that there is no warning
        assertThat(server.actions()).hasSize(12);
    }

    @Test
    void names_clockStandsStill_differ() {
        EventNames names = new EventNames(time);

        assertThat(names.next("web")).isEqualTo("web." + hexTime()).isNotEqualTo(names.next("web"));
    }

    @Test
    void names_longObject_isCutToWhatANameMayHave() {
        assertThat(new EventNames(time).next("w".repeat(253))).hasSize(253).endsWith("w." + hexTime());
    }

    private void recordMessages(int count) {
        for (int i = 0; i < count; i++) {
            events.event(WEB, EventRecorder.EventType.WARNING, "Failed", "message " + i);
        }
    }

    private static ObjectReference container(String name) {
        return WEB.edit().withFieldPath("spec.containers{" + name + "}").build();
    }

    private String hexTime() {
        return Long.toHexString(time.wallTime().getEpochSecond() * 1_000_000_000L);
    }

    private List<Event> stored() {
        return server.sent().stream()
                .filter(sent -> sent.verb() == Verb.CREATE)
                .map(sent -> server.cluster()
                        .get(Event.class, sent.key().namespace(), sent.key().name()))
                .toList();
    }

    private Event only() {
        String name = server.sent().get(server.sent().size() - 1).key().name();
        return server.cluster().get(Event.class, "shop", name);
    }

    private List<Verb> verbs() {
        return server.actions().stream()
                .filter(action -> action.kind().equals(ObjectKind.EVENT))
                .map(FakeApiServer.Action::verb)
                .toList();
    }

    private static ApiServerException failure(FailureReason reason) {
        return new ApiServerException(reason, 0, null, "told to fail with " + reason, null);
    }
}
