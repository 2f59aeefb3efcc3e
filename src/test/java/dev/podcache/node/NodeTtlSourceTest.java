package dev.podcache.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.object.FailureReason;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Rule 4.3, with the cases of the kubelet's TestParseNodeAnnotation. */
@ExtendWith(NoLeaks.class)
class NodeTtlSourceTest {

    private static final long DEFAULT_NANOS = Duration.ofSeconds(60).toNanos();

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final ManualListerWatcher<Node> server = new ManualListerWatcher<>();
    private final NodeLister lister = NodeLister.following("worker-1", server, new Recovery(time, () -> 0.0));
    private final NodeTtlSource source = NodeTtlSource.of(lister, Duration.ofSeconds(60));

    @BeforeEach
    void allowWarnings(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        leaks.allowWarnings("not a number of seconds");
    }

    @AfterEach
    void tearDown() {
        source.close();
        lister.close();
    }

    @Test
    void ttlNanos_nodeNotRead_isTheDefault() {
        assertThat(source.ttlNanos()).isEqualTo(DEFAULT_NANOS);
        assertThat(source.origin()).isEqualTo("default, Node worker-1 has not been read yet");
    }

    @Test
    void ttlNanos_nodeAbsent_isTheDefault() {
        server.answer("1", List.of());

        assertThat(source.ttlNanos()).isEqualTo(DEFAULT_NANOS);
        assertThat(source.origin()).isEqualTo("default, Node worker-1 does not exist");
    }

    @Test
    void ttlNanos_listRefused_isTheDefaultAndSaysWhy() {
        server.fail(new ApiServerException(FailureReason.FORBIDDEN, 403, null, "LIST nodes was answered 403", null));

        assertThat(source.ttlNanos()).isEqualTo(DEFAULT_NANOS);
        assertThat(source.origin()).isEqualTo("default, watch of Node worker-1 failed: LIST nodes was answered 403");
    }

    @Test
    void ttlNanos_nodeWithoutAnnotations_isTheDefault() {
        answer(new NodeBuilder()
                .withNewMetadata()
                .withName("worker-1")
                .endMetadata()
                .build());

        assertThat(source.ttlNanos()).isEqualTo(DEFAULT_NANOS);
        assertThat(source.origin()).isEqualTo("default, Node worker-1 has no annotation node.alpha.kubernetes.io/ttl");
    }

    @Test
    void ttlNanos_nullAnnotations_isTheDefault() {
        Node node = node("60");
        node.getMetadata().setAnnotations(null);
        answer(node);

        assertThat(source.ttlNanos()).isEqualTo(DEFAULT_NANOS);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "60, 60000000000",
        "+30, 30000000000",
        "007, 7000000000",
        "-5, 0",
        "-9223372036854775808, 0",
        "9223372036, 9223372036000000000",
        "9223372037, 9223372036854775807",
        "9223372036854775807, 9223372036854775807"
    })
    void ttlNanos_decimal_isThatManySeconds(String value, long nanos) {
        answer(node(value));

        assertThat(source.ttlNanos()).isEqualTo(nanos);
        assertThat(source.origin()).isEqualTo("annotation node.alpha.kubernetes.io/ttl of Node worker-1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"bad", "", " 60", "1e3", "1.5", "0x10", "٣", "+", "99999999999999999999", "60s"})
    void ttlNanos_anythingElse_isTheDefaultAndQuotesTheValue(String value) {
        answer(node(value));

        assertThat(source.ttlNanos()).isEqualTo(DEFAULT_NANOS);
        assertThat(source.origin()).contains("node.alpha.kubernetes.io/ttl", "worker-1", "\"" + value + "\"");
    }

    @Test
    void ttlNanos_hostileValue_isQuotedShortAndOnOneLine() {
        for (String value : List.of(
                "60\nERROR forged\u001b[31m\u2028x", "9".repeat(1 << 20), "-\0", "\ud800", "+".repeat(1 << 20))) {
            answer(node(value));

            assertThat(source.ttlNanos()).isEqualTo(DEFAULT_NANOS);
            assertThat(source.origin()).hasSizeLessThan(250).doesNotContainPattern("[\\p{Cc}\\p{Zl}]");
        }
    }

    @Test
    void ttlNanos_sameBadValueAgain_isWarnedOfOnce() {
        Logger logger = (Logger) LoggerFactory.getLogger(NodeTtlSource.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        logger.addAppender(log);
        log.start();
        try {
            answer(node("bad"));
            server.watch().open();
            server.watch().upsert(node("bad"), "2");
            server.watch().upsert(node("worse"), "3");
        } finally {
            logger.detachAppender(log);
        }

        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .satisfiesExactly(
                        first -> assertThat(first)
                                .contains("node.alpha.kubernetes.io/ttl of Node worker-1 is \"bad\"")
                                .contains("kubectl annotate node worker-1 --overwrite node.alpha.kubernetes.io/ttl=60"),
                        second -> assertThat(second).contains("\"worse\""));
    }

    @Test
    void origin_longValue_isCut() {
        answer(node("x".repeat(1000)));

        assertThat(source.origin()).contains("\"" + "x".repeat(80) + "...\"").hasSizeLessThan(250);
    }

    @Test
    void ttlNanos_annotationChanged_changesWithTheEvent() {
        answer(node("60"));
        server.watch().open();
        server.watch().upsert(node("0"), "2");
        assertThat(source.ttlNanos()).isZero();

        server.watch().upsert(node("300"), "3");
        assertThat(source.ttlNanos()).isEqualTo(TimeUnit.SECONDS.toNanos(300));
    }

    @Test
    void ttlNanos_nodeDeleted_isTheDefault() {
        answer(node("5"));
        server.watch().open();
        server.watch().delete(node("5"), "2");

        assertThat(source.ttlNanos()).isEqualTo(DEFAULT_NANOS);
    }

    @Test
    void ttlNanos_watchBroken_staysWhatItWas() {
        answer(node("5"));
        server.watch().end(new ApiServerException(FailureReason.UNAVAILABLE, 0, null, "gone", null));

        assertThat(source.ttlNanos()).isEqualTo(TimeUnit.SECONDS.toNanos(5));
    }

    @Test
    void close_thenAChange_isNotFollowed() {
        answer(node("5"));
        source.close();
        server.watch().upsert(node("6"), "2");

        assertThat(source.ttlNanos()).isEqualTo(TimeUnit.SECONDS.toNanos(5));
    }

    @Test
    void of_negativeDefault_isRefused() {
        assertThatThrownBy(() -> NodeTtlSource.of(lister, Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT-1S");
    }

    private void answer(Node node) {
        server.answer("1", List.of(new Fetched<>(node, "1", 1)));
    }

    private static Node node(String ttl) {
        return new NodeBuilder()
                .withNewMetadata()
                .withName("worker-1")
                .withAnnotations(Map.of(NodeTtlSource.ANNOTATION, ttl))
                .endMetadata()
                .build();
    }
}
