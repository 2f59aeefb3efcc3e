package dev.podcache;

import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What do registrations cost, and does that depend on how much is registered already?
 *
 * <p>A pod with five Secrets that no other pod refers to comes and goes, or comes again unchanged, beside pods that refer to {@code objects}
 * others, five each. The first two ask the manager of Secrets alone, as the baseline does, which is the kubelet's way in Java;
 * {@code frontDoor...} does the same with both managers, as users do. Nothing is read: registering makes no request under CACHE. Under
 * WATCH it begins, and ends, five watches, on other threads.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.args="RegisterPod -prof gc"
 * mvn -q -Pjmh verify -Djmh.args="RegisterPod -p objects=10,100,1000,10000 -p entries=TTL"
 * }</pre>
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(3)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class RegisterPodBenchmark {

    private static final String NAMESPACE = "shop";
    private static final int REFERENCES = 5;

    /** What there is already. */
    @State(Scope.Benchmark)
    public static class Registered {

        /** How much. */
        @Param("500")
        public int objects;

        private final Pod comer = pod("comer");
        private final Pod stayer = pod("stayer");

        List<Pod> others() {
            return IntStream.range(0, objects / REFERENCES)
                    .mapToObj(i -> pod("other-" + i))
                    .toList();
        }

        private static Pod pod(String name) {
            List<String> secrets =
                    IntStream.range(0, REFERENCES).mapToObj(i -> name + "-" + i).toList();
            return SomePod.of(NAMESPACE, name, secrets, List.of());
        }
    }

    /** Ours. */
    @State(Scope.Benchmark)
    public static class Ours {

        /** How. */
        @Param({"TTL", "WATCH"})
        public FrontDoor.Entries entries;

        private Podcache cache;

        /** Registers the others. */
        @Setup
        public void register(Registered registered) {
            cache = FrontDoor.open(entries);
            registered.others().forEach(cache::registerPod);
            cache.registerPod(registered.stayer);
        }

        /** Ends the threads. */
        @TearDown
        public void close() throws IOException {
            cache.close();
        }
    }

    /** The kubelet's. */
    @State(Scope.Benchmark)
    public static class Kubelet {

        private final TwoMutexManager manager = new TwoMutexManager();

        /** Registers the others. */
        @Setup
        public void register(Registered registered) {
            registered.others().forEach(manager::registerPod);
            manager.registerPod(registered.stayer);
        }
    }

    /** A pod comes and goes. */
    @Benchmark
    public void comeAndGo(Registered registered, Ours ours) {
        ours.cache.secrets().registerPod(registered.comer);
        ours.cache.secrets().unregisterPod(registered.comer);
    }

    /** A pod comes again as it was. */
    @Benchmark
    public void comeAgain(Registered registered, Ours ours) {
        ours.cache.secrets().registerPod(registered.stayer);
    }

    /** A pod comes and goes, Secrets and ConfigMaps. */
    @Benchmark
    public void frontDoorComeAndGo(Registered registered, Ours ours) {
        ours.cache.registerPod(registered.comer);
        ours.cache.unregisterPod(registered.comer);
    }

    /** A pod comes again as it was, Secrets and ConfigMaps. */
    @Benchmark
    public void frontDoorComeAgain(Registered registered, Ours ours) {
        ours.cache.registerPod(registered.stayer);
    }

    /** The kubelet's way. */
    @Benchmark
    public void kubeletComeAndGo(Registered registered, Kubelet kubelet) {
        kubelet.manager.registerPod(registered.comer);
        kubelet.manager.unregisterPod(registered.comer);
    }

    /** The kubelet's way. */
    @Benchmark
    public void kubeletComeAgain(Registered registered, Kubelet kubelet) {
        kubelet.manager.registerPod(registered.stayer);
    }
}
