package dev.podcache.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a run did and found, as one block of text, and whether it left anything behind. */
final class ChaosReport {

    private static final int FEW_FILES = 6;
    private static final long FEW_BYTES = 10 << 20;

    private final ChaosOptions options;
    private final World world;
    private final List<Finding> findings = new ArrayList<>();
    private final StringBuilder text = new StringBuilder();
    private @Nullable ResourceUse before;

    ChaosReport(ChaosOptions options, World world) {
        this.options = options;
        this.world = world;
    }

    /** What the process held before the caches were opened. */
    void before(ResourceUse resources) {
        before = resources;
        line("resources before", resources);
    }

    /** How long after the faults each cache equalled the server. */
    void converged(Map<CacheUnderTest, Duration> took) {
        line("converged after", took);
    }

    /** Looks what the process holds now, when everything should be closed; waits for that at most {@code patience}. */
    void after(Duration patience) {
        ResourceUse known = before;
        if (known == null) {
            return;
        }
        ResourceUse now = ResourceUse.backTo(known, FEW_FILES, patience);
        line("resources after", now);
        List<String> threads = now.newSince(known);
        if (!threads.isEmpty()) {
            findings.add(new Finding(Shape.LEFT_OPEN, "threads live on: " + threads));
        }
        if (now.files() > known.files() + FEW_FILES || now.sockets() > known.sockets() + FEW_FILES) {
            findings.add(new Finding(Shape.LEFT_OPEN, "files or sockets are open: " + now + "; before: " + known));
        }
        if (now.heap() > known.heap() + FEW_BYTES) {
            findings.add(new Finding(Shape.REACHABLE, "the heap has grown: " + now + "; before: " + known));
        }
    }

    /** Prints everything, well or ill. */
    void print(Duration took) {
        findings.addAll(0, world.violations.findings());
        RunFigures figures = world.figures;
        StringBuilder block = new StringBuilder(String.format(
                "%n=== %s, seed %d, %.1f minutes of faults, %d s in all ===%n",
                options.test(), options.seed(), options.faultsFor().toMillis() / 60_000.0, took.toSeconds()));
        long operations = figures.total("read ") + figures.total("pod ") + figures.total("write ");
        line("operations", operations + ", " + figures.total("log lines") + " log lines searched");
        line("reads", figures.counted("read "));
        line("stale served", figures.counted("stale "));
        line("pods", figures.counted("pod "));
        line("writes", figures.counted("write "));
        line("fresh, deleted", figures.counted("FRESH answer of ") + ", " + figures.counted("deletion seen by "));
        line("requests", figures.counted("request "));
        line("GETs", figures.counted("GET "));
        line("refreshes", figures.counted("refresh "));
        line("faults", figures.total("fault ") + " " + figures.counted("fault "));
        line("overlaps", figures.total("overlap ") + " " + figures.counted("overlap "));
        line("at once", figures.most());
        line("worst", figures.worst());
        line("stood still", RunTime.seconds(world.stalls.between(0, world.time.now())));
        line("found", findings.isEmpty() ? "nothing" : findings.size() + ", repeat with: " + options.command());
        System.out.print(block.append(text));
    }

    /** What is wrong. */
    List<Finding> findings() {
        return List.copyOf(findings);
    }

    private void line(String name, Object value) {
        text.append(String.format("%-18s%s%n", name, value));
    }
}
