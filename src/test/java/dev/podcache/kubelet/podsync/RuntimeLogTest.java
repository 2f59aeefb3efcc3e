package dev.podcache.kubelet.podsync;

import static dev.podcache.kubelet.podsync.WorkersFixture.pod;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.PodIP;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

/** What the log says of a runtime that fails, or reports what no API server takes, at each sync of a pod. */
@ExtendWith(NoLeaks.class)
class RuntimeLogTest {

    private final ManualTimekeeper time = new ManualTimekeeper();
    private List<String> podIps = List.of("10.0.0.7");
    private final WorkersFixture node =
            new WorkersFixture(WorkersFixture.Options.DEFAULT, time, new HollowRuntime(time, List.of(), pod -> podIps));

    private final Logger logger = (Logger) LoggerFactory.getLogger(RuntimeLogTest.class.getPackageName());
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void setUp() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void tearDown() {
        logger.detachAppender(log);
        node.close();
    }

    private List<ILoggingEvent> warnings() {
        return log.list.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                .toList();
    }

    private static boolean hasStack(ILoggingEvent event) {
        return event.getThrowableProxy() != null;
    }

    private void retry() {
        time.advance(Duration.ofSeconds(10));
        node.settle();
    }

    @Test
    @ExpectedWarnings("runtime failed to start container main of pod shop/web")
    void startFailsAtEachSync_onlyTheFirstWarningHasTheStackTrace() {
        node.start();
        for (int i = 1; i <= 3; i++) {
            node.runtime.onStart =
                    new IllegalStateException("not started", new IOException("no space\nfor process " + i));
            if (i == 1) {
                node.create(pod("web"));
            } else {
                // the pause doubles
                node.timekeeper.advance(Duration.ofSeconds(i == 2 ? 10 : 20));
            }
        }

        assertThat(warnings()).extracting(RuntimeLogTest::hasStack).containsExactly(true, false, false);
        assertThat(warnings().get(2).getFormattedMessage())
                .isEqualTo("runtime failed to start container main of pod shop/web; retrying:"
                        + " java.lang.IllegalStateException: not started, caused by java.io.IOException: no space for process 3;"
                        + " its stack trace was logged before");
    }

    @Test
    @ExpectedWarnings("runtime failed to start container main of pod shop/web")
    void startFailsForAnotherCause_itsStackTraceIsLogged() {
        node.start();
        node.runtime.onStart = new IllegalStateException("no space");
        node.create(pod("web"));
        node.runtime.onStart = new NoClassDefFoundError("io/user/Starter");
        retry();

        assertThat(warnings()).extracting(RuntimeLogTest::hasStack).containsExactly(true, true);
    }

    @Test
    @ExpectedWarnings("runtime failed to start container main of pod")
    void startOfTwoPodsFails_eachHasItsStackTrace() {
        node.start();
        node.runtime.onStart = new IllegalStateException("no space");
        node.create(pod("web"));
        node.create(pod("db"));

        assertThat(warnings()).extracting(RuntimeLogTest::hasStack).containsExactly(true, true);
    }

    @Test
    @ExpectedWarnings("sync of pod shop/web failed; retrying")
    void statusFailsAtEachSync_onlyTheFirstWarningHasTheStackTrace() {
        node.start();
        node.runtime.onStatus = new StackOverflowError();
        node.create(pod("web"));
        retry();
        retry();

        assertThat(warnings()).extracting(RuntimeLogTest::hasStack).containsExactly(true, false, false);
    }

    @Test
    @ExpectedWarnings("the runtime reports \"eth0\"")
    void podIpIsNoAddress_theRestIsReported_andOneWarningSaysSo() {
        podIps = List.of("eth0", "10.0.0.7", "fe80::1%eth0", "", "fd00::7");
        node.start();
        node.create(pod("web"));
        retry();
        node.workers.changed(node.known.all().iterator().next().getMetadata().getUid());
        node.settle();

        assertThat(node.status("web").getPhase()).isEqualTo("Running");
        assertThat(node.status("web").getPodIPs()).extracting(PodIP::getIp).containsExactly("10.0.0.7", "fd00::7");
        assertThat(node.status("web").getPodIP()).isEqualTo("10.0.0.7");
        assertThat(warnings())
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "the runtime reports \"eth0\", \"fe80::1%eth0\", \"\" as IP of pod shop/web, which is left"
                                + " out of its status: PodRuntime.status must return IP addresses, such as 10.0.0.7");
    }
}
