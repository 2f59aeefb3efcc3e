package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class FastStatusUpdateTest {

    private static final Duration LOOK = Duration.ofMillis(100);
    private static final RequestPattern PATCHES = RequestPattern.any().verb(Verb.PATCH);

    private final UpdaterFixture fixture = new UpdaterFixture();

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void check_nodeBecomesReady_reportsOnceAndAtOnce() {
        fixture.ready = false;
        fixture.started();
        fixture.time.advance(LOOK.multipliedBy(20));
        assertThat(fixture.calls()).isEmpty();

        fixture.ready = true;
        fixture.time.advance(LOOK);

        assertThat(fixture.calls()).containsExactly(Verb.PATCH);
        assertThat(fixture.condition("Ready").getStatus()).isEqualTo("True");
        int computed = fixture.computed;
        fixture.time.advance(LOOK.multipliedBy(20));
        assertThat(fixture.computed).isEqualTo(computed);
    }

    @Test
    void check_reported_restartsTheReportPeriod() {
        fixture.ready = false;
        fixture.started();
        fixture.ready = true;
        fixture.time.advance(LOOK);
        fixture.server.clearActions();

        fixture.time.advance(Duration.ofMinutes(5));

        assertThat(fixture.calls()).isEmpty();
    }

    @Test
    void check_notReadyInTwoMinutes_ends() {
        fixture.ready = false;
        fixture.started();
        fixture.time.advance(Duration.ofSeconds(120));
        int computed = fixture.computed;
        fixture.ready = true;

        fixture.time.advance(Duration.ofSeconds(2));
        assertThat(fixture.computed).isEqualTo(computed);
        assertThat(fixture.calls()).isEmpty();

        fixture.time.advance(UpdaterFixture.SYNC);
        assertThat(fixture.calls()).containsExactly(Verb.PATCH);
    }

    @Test
    void check_otherChangeThanReady_isNotReported() {
        fixture.ready = false;
        fixture.started();
        fixture.memory = "40e9";

        fixture.time.advance(LOOK.multipliedBy(5));

        assertThat(fixture.calls()).isEmpty();
    }

    @Test
    void check_alreadyReady_endsWithoutComputing() {
        fixture.started();
        int computed = fixture.computed;

        fixture.time.advance(LOOK.multipliedBy(20));

        assertThat(fixture.computed).isEqualTo(computed);
    }

    @Test
    void check_reportFails_syncsAtOnce() {
        fixture.ready = false;
        fixture.started();
        fixture.server.failNext(2, UpdaterFixture.failure(FailureReason.CONFLICT), PATCHES);
        fixture.ready = true;

        fixture.time.advance(LOOK);

        // the check, then a sync whose second try reads from the server
        assertThat(fixture.calls()).containsExactly(Verb.PATCH, Verb.PATCH, Verb.GET, Verb.PATCH);
        assertThat(fixture.condition("Ready").getStatus()).isEqualTo("True");
    }

    @Test
    @ExpectedWarnings("was not registered: ")
    void check_duringRegistration_waits() {
        fixture.ready = false;
        fixture.server.failNext(
                8,
                UpdaterFixture.failure(FailureReason.UNAVAILABLE),
                RequestPattern.any().verb(Verb.CREATE));
        fixture.updater().start();

        fixture.time.advance(Duration.ofSeconds(12));

        // one for each attempt to create the Node, and no other
        assertThat(fixture.computed).isEqualTo(fixture.server.count(Verb.CREATE));
    }

    @Test
    @ExpectedWarnings("was not reported: ")
    void check_nodeMissing_continuesUntilItExists() {
        fixture.updater(options -> options.registerNode(false)).start();
        fixture.time.advance(LOOK.multipliedBy(5));
        fixture.server.clearActions();
        fixture.server.cluster().create(Nodes.notReady(fixture.time.wallTime()));

        fixture.time.advance(LOOK);

        assertThat(fixture.calls()).containsExactly(Verb.PATCH);
        assertThat(fixture.condition("Ready").getStatus()).isEqualTo("True");
    }
}
