package dev.podcache.kubelet.podstatus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import io.fabric8.zjsonpatch.JsonDiff;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does the status of a pod cost: one that says nothing new, one that does, and the patch that tells the server?
 *
 * <p>A pod of three containers, of which one has become unready; the server has a condition of somebody else's. The
 * baseline makes fabric8's JSON patch of the same two states, without a merge.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.args="PodStatusMerge -prof gc"
 * }</pre>
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(3)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@State(Scope.Thread)
public class PodStatusMergeBenchmark {

    private static final String NOW = "2026-01-01T00:00:00Z";

    private final ObjectMapper mapper = new ObjectMapper();
    private final Timekeeper timekeeper = Timekeeper.system();

    /** Never started, so it asks the server for nothing. */
    private final PodStatusManager manager = new PodStatusManager(
            new FakeApiServer(timekeeper).api(ObjectKind.POD, Duration.ofSeconds(1)),
            uid -> Optional.empty(),
            timekeeper,
            () -> 0.0);

    private Pod pod;
    private PodStatus ready;
    private PodStatus unready;
    private PodStatus atServer;
    private boolean turn;

    /** Makes the pod and its two statuses. */
    @Setup
    public void prepare() {
        pod = Given.pod(Given.spec("Always", "web", "log", "proxy"));
        ready = PodStatuses.of(
                pod,
                PodObservation.of(
                        Given.statuses(Given.running("web"), Given.running("log"), Given.running("proxy")),
                        Given.statuses()));
        unready = PodStatuses.of(
                pod,
                PodObservation.of(
                        Given.statuses(Given.unready("web"), Given.running("log"), Given.running("proxy")),
                        Given.statuses()));
        atServer = new PodStatusBuilder(ready)
                .addToConditions(new PodConditionBuilder()
                        .withType("shop.example/warm")
                        .withStatus("True")
                        .withLastTransitionTime(NOW)
                        .build())
                .build();
        pod = new PodBuilder(pod).withStatus(atServer).build();
        manager.setPodStatus(pod, ready);
    }

    /** Ends the threads. */
    @TearDown
    public void close() {
        manager.close();
        timekeeper.close();
    }

    /** A status that says nothing new. */
    @Benchmark
    public void setUnchanged() {
        manager.setPodStatus(pod, ready);
    }

    /** A status that does: ready and unready in turns. */
    @Benchmark
    public void setChanged() {
        turn = !turn;
        manager.setPodStatus(pod, turn ? unready : ready);
    }

    /** The merge with what the server has. */
    @Benchmark
    public PodStatus merge() {
        return PodStatusMerge.merge(atServer, unready, true, NOW);
    }

    /** The merge, and the patch to be sent. */
    @Benchmark
    public String mergeAndPatch() {
        return StatusPatch.between(
                        pod.getMetadata().getUid(), atServer, PodStatusMerge.merge(atServer, unready, true, NOW))
                .json();
    }

    /** fabric8's patch. */
    @Benchmark
    public JsonNode fabric8JsonPatch() {
        return JsonDiff.asJson(mapper.valueToTree(atServer), mapper.valueToTree(unready));
    }
}
