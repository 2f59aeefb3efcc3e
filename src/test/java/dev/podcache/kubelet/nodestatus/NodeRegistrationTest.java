package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableList;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** TestTryRegisterWithApiServer and TestRegisterWithApiServer of the kubelet, and the pauses between attempts. */
@ExtendWith(NoLeaks.class)
class NodeRegistrationTest {

    private final UpdaterFixture fixture = new UpdaterFixture();
    private final List<String> failures = new ArrayList<>();

    @AfterEach
    void close() {
        fixture.close();
    }

    @ParameterizedTest
    @MethodSource("attempts")
    void attempt_upstreamTable(
            RegistrationCase attempt, boolean succeeds, int calls, @Nullable String savedAnnotation) {
        if (attempt.existing != null) {
            fixture.server.cluster().create(attempt.existing);
        }
        if (attempt.failing != null) {
            fixture.server.failNext(
                    1,
                    UpdaterFixture.failure(FailureReason.CONFLICT),
                    RequestPattern.any().verb(attempt.failing));
        }

        CompletableFuture<Void> done = registration(Nodes.initial()).attempt();

        assertThat(done.isDone()).isTrue();
        assertThat(done.isCompletedExceptionally()).isEqualTo(!succeeds);
        assertThat(fixture.calls())
                .isEqualTo(List.of(Verb.CREATE, Verb.GET, Verb.PATCH).subList(0, calls));
        if (succeeds) {
            assertThat(fixture.node().getMetadata().getAnnotations().get(InitialNode.ATTACH_DETACH))
                    .isEqualTo(savedAnnotation);
        }
    }

    record RegistrationCase(
            @Nullable Node existing, @Nullable Verb failing) {}

    static Arguments[] attempts() {
        return new Arguments[] {
            row("new node", new RegistrationCase(null, null), true, 1, "true"),
            row("existing, same annotation", new RegistrationCase(existing("true"), null), true, 2, "true"),
            row("existing, another annotation", new RegistrationCase(existing("false"), null), true, 3, "true"),
            row("existing, annotation now", new RegistrationCase(existing(null), null), true, 3, "true"),
            row("create failed", new RegistrationCase(null, Verb.CREATE), false, 1, null),
            row("get failed", new RegistrationCase(existing("true"), Verb.GET), false, 2, null),
            row("patch failed", new RegistrationCase(existing(null), Verb.PATCH), false, 3, null)
        };
    }

    private static Arguments row(
            String name, RegistrationCase attempt, boolean succeeds, int calls, @Nullable String annotation) {
        return Arguments.of(Named.of(name, attempt), succeeds, calls, annotation);
    }

    private static Node existing(@Nullable String attachDetach) {
        Node node = Nodes.initial().build().toNode();
        if (attachDetach == null) {
            node.getMetadata().getAnnotations().remove(InitialNode.ATTACH_DETACH);
        } else {
            node.getMetadata().getAnnotations().put(InitialNode.ATTACH_DETACH, attachDetach);
        }
        return node;
    }

    @Test
    void attempt_createForbidden_usesTheExistingNode() {
        fixture.server.cluster().create(existing("true"));
        forbidCreation();

        assertThat(registration(Nodes.initial()).attempt()).isCompleted();
        assertThat(fixture.calls()).containsExactly(Verb.CREATE, Verb.GET);
    }

    @Test
    void attempt_createForbiddenAndNoNode_failsBecauseOfTheCreation() {
        forbidCreation();

        assertThat(registration(Nodes.initial()).attempt())
                .isCompletedExceptionally()
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withMessageContaining("answered FORBIDDEN");
    }

    @Test
    void attempt_existing_isCorrectedAndKeepsOtherFields() {
        fixture.server
                .cluster()
                .create(new NodeBuilder(existing("true"))
                        .editMetadata()
                        .addToLabels(Map.of("kubernetes.io/arch", "arm64", "disk", "hdd"))
                        .endMetadata()
                        .editSpec()
                        .addNewTaint("NoSchedule", "mine", null, "x")
                        .endSpec()
                        .build());
        String uid = fixture.node().getMetadata().getUid();

        registration(Nodes.initial().labels(Map.of("disk", "ssd", "new", "yes")))
                .attempt()
                .join();

        Node node = fixture.node();
        assertThat(node.getMetadata().getLabels())
                .containsEntry("kubernetes.io/arch", "amd64")
                .containsEntry("disk", "hdd")
                .doesNotContainKey("new");
        assertThat(node.getSpec().getTaints()).hasSize(1);
        assertThat(node.getMetadata().getUid()).isEqualTo(uid);
    }

    @Test
    void register_existingNode_isDone() {
        fixture.server.cluster().create(existing("true"));

        CompletableFuture<Void> registered = registration(Nodes.initial()).register(this::failed);
        fixture.time.advance(Duration.ofMillis(100));

        assertThat(registered).isCompleted();
    }

    @Test
    void register_failingForLong_pausesDoubleUpTo7Seconds() {
        fixture.server.failNext(11, UpdaterFixture.failure(FailureReason.UNAVAILABLE));

        CompletableFuture<Void> registered = registration(Nodes.initial()).register(this::failed);

        int calls = 0;
        for (long pause : new long[] {100, 200, 400, 800, 1_600, 3_200, 6_400, 7_000, 7_000, 7_000, 7_000}) {
            fixture.time.advance(Duration.ofMillis(pause - 1));
            assertThat(fixture.calls()).hasSize(calls);
            fixture.time.advance(Duration.ofMillis(1));
            assertThat(fixture.calls()).hasSize(++calls);
        }
        assertThat(failures).hasSize(11).containsOnly("answered UNAVAILABLE");
        assertThat(registered).isNotDone();

        fixture.time.advance(Duration.ofSeconds(7));
        assertThat(registered).isCompleted();
    }

    @Test
    void register_eachAttempt_sendsTheStatusOfNow() {
        fixture.server.failNext(1, UpdaterFixture.failure(FailureReason.UNAVAILABLE));
        ImmutableList<NodeStatusSetter> setters = fixture.options().build().setters();
        registration(Nodes.initial(), setters).register(this::failed);
        fixture.time.advance(Duration.ofMillis(100));
        fixture.memory = "40e9";
        fixture.time.advance(Duration.ofMillis(200));

        assertThat(fixture.node().getStatus().getCapacity()).isEqualTo(Nodes.quantities("cpu", "2", "memory", "40e9"));
        assertThat(fixture.condition("Ready").getStatus()).isEqualTo("True");
    }

    @Test
    void close_duringAPause_noFurtherAttempt() {
        NodeRegistration registration = registration(Nodes.initial());
        registration.register(this::failed);

        registration.close();
        fixture.time.advance(Duration.ofMinutes(1));

        assertThat(fixture.calls()).isEmpty();
    }

    private void forbidCreation() {
        fixture.server.failNext(
                1,
                UpdaterFixture.failure(FailureReason.FORBIDDEN),
                RequestPattern.any().verb(Verb.CREATE));
    }

    private void failed(Failure failure) {
        failures.add(failure.message());
    }

    private NodeRegistration registration(InitialNode.Builder node) {
        return registration(node, ImmutableList.of());
    }

    private NodeRegistration registration(InitialNode.Builder node, ImmutableList<NodeStatusSetter> setters) {
        return new NodeRegistration(
                fixture.api,
                new StatusReports(
                        fixture.api,
                        NodeStatusOptions.builder(node.build()).setters(setters).build(),
                        fixture.time)::initial,
                fixture.time);
    }
}
