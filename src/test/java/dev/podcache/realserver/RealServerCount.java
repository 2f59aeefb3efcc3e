package dev.podcache.realserver;

import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.ServerVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestTag;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Counts every real-server test, wherever it lies, by its tag, and writes at the end of each JVM that saw one how many
 * were executed and skipped, on which server and why:
 *
 * <pre>
 * server v1.36.4-library-standin
 * executed 243
 * failed 0
 * skipped 24
 * because 4 needs RBAC, service accounts, tokens of service accounts
 * skip dev.podcache.realserver.RolesRealServerTest: needs RBAC, service accounts, tokens of service accounts
 * </pre>
 *
 * <p>The server is {@code none} where there is no binary. Each invocation of a parameterized test counts; one that is
 * skipped counts once. A JVM writes one file, named after its process, into the folder of the system property {@code
 * podcache.realServer.counts}, by default {@code target/real-server-tests}. JUnit finds this class through {@code
 * META-INF/services}.
 */
public final class RealServerCount implements TestExecutionListener {

    private static final TestTag TAG = TestTag.create("real-server");
    private static final String NONE = "none";

    private final AtomicInteger executed = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final ConcurrentLinkedQueue<Skipped> skipped = new ConcurrentLinkedQueue<>();
    private final Set<TestPlan> plans = ConcurrentHashMap.newKeySet();

    private final Path folder;

    /** Made by JUnit. */
    public RealServerCount() {
        this(Path.of(System.getProperty("podcache.realServer.counts", "target/real-server-tests")));
    }

    RealServerCount(Path folder) {
        this.folder = folder;
    }

    private record Skipped(String test, int count, String reason) {}

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        plans.add(plan);
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        if (isCounted(test)) {
            skipped.add(new Skipped(nameOf(test), testsOf(test), reason));
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (!isCounted(test)) {
            return;
        }
        switch (result.getStatus()) {
            case ABORTED ->
                skipped.add(new Skipped(
                        nameOf(test),
                        testsOf(test),
                        result.getThrowable().map(Throwable::getMessage).orElse("no reason given")));
            case FAILED -> {
                failed.incrementAndGet();
                executed.addAndGet(test.isTest() ? 1 : 0);
            }
            case SUCCESSFUL -> executed.addAndGet(test.isTest() ? 1 : 0);
        }
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        plans.remove(plan);
        if (executed.get() + failed.get() + skipped.size() == 0) {
            return;
        }
        String server =
                RealApiServer.versionFound().map(ServerVersion::toString).orElse(NONE);
        try {
            Files.createDirectories(folder);
            Files.write(folder.resolve(ProcessHandle.current().pid() + ".txt"), lines(server));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> lines(String server) {
        List<String> lines = new ArrayList<>();
        lines.add("server " + server);
        lines.add("executed " + executed);
        lines.add("failed " + failed);
        lines.add("skipped " + skippedTests());
        Map<String, Integer> reasons = new TreeMap<>();
        skipped.forEach(each -> reasons.merge(each.reason(), each.count(), Integer::sum));
        reasons.forEach((reason, count) -> lines.add("because " + count + " " + oneLine(reason)));
        skipped.forEach(each -> lines.add("skip " + each.test() + ": " + oneLine(each.reason())));
        return lines;
    }

    private int skippedTests() {
        return skipped.stream().mapToInt(Skipped::count).sum();
    }

    /** Of a class that is skipped as a whole JUnit tells no test. */
    private int testsOf(TestIdentifier test) {
        return plans.stream()
                .mapToInt(plan -> (int) plan.getDescendants(test).stream()
                        .filter(each -> plan.getChildren(each).isEmpty())
                        .count())
                .filter(count -> count > 0)
                .findFirst()
                .orElse(1);
    }

    private static boolean isCounted(TestIdentifier test) {
        return test.getTags().contains(TAG);
    }

    private static String nameOf(TestIdentifier test) {
        return test.getUniqueId().replaceAll(".*\\[class:([^]]*)]", "$1").replaceAll("/\\[[^:]*:([^]]*)]", "#$1");
    }

    private static String oneLine(String reason) {
        return reason.lines().findFirst().orElse("");
    }
}
