package dev.podcache;

import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
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
 * <p>A pod with five Secrets that no other pod refers to comes and goes, or comes again unchanged, beside pods that
 * refer to {@code objects} others, five each. The first two ask the manager of Secrets alone, as the baseline does,
 * which is the kubelet's way in Java; {@code frontDoor...} does the same with both managers, as users do. Nothing is
 * read: registering makes no request under CACHE. Under WATCH {@code comeAndGo} begins, and ends, five watches, on
 * other threads, faster than those can work: what it measures there is the backlog. So, to compare the strategies:
 *
 * <ul>
 *   <li>{@code come}: only the calls that register, for each of a hundred pods with five Secrets of their own. Under
 *       WATCH each begins five watches, whose lists are held up until all have come; between, all is brought to rest.
 *   <li>{@code sharedComeAndGo}: a pod comes and goes with five Secrets that another pod refers to all the time, so
 *       that under WATCH the watches are there and stay.
 * </ul>
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.args="RegisterPod -prof gc"
 * mvn -q -Pjmh verify -Djmh.args="RegisterPod -p objects=10,100,1000,10000 -p entries=TTL"
 * mvn -q -Pjmh verify -Djmh.args="RegisterPodBenchmark.(come|sharedComeAndGo)$ -p objects=10,100,1000,10000"
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
    private static final int CROWD = 100;

    /** What there is already. */
    @State(Scope.Benchmark)
    public static class Registered {

        /** How much. */
        @Param("500")
        public int objects;

        private final Pod comer = pod("comer");
        private final Pod stayer = pod("stayer");
        private final Pod sharer = SomePod.of(NAMESPACE, "sharer", secrets("stayer"), List.of());

        List<Pod> others() {
            return IntStream.range(0, objects / REFERENCES)
                    .mapToObj(i -> pod("other-" + i))
                    .toList();
        }

        private static Pod pod(String name) {
            return SomePod.of(NAMESPACE, name, secrets(name), List.of());
        }

        private static List<String> secrets(String pod) {
            return IntStream.range(0, REFERENCES).mapToObj(i -> pod + "-" + i).toList();
        }
    }

    /** Ours. */
    @State(Scope.Benchmark)
    public static class Ours {

        /** How. */
        @Param({"TTL", "WATCH"})
        public FrontDoor.Entries entries;

        private final Gate lists = new Gate();
        private Podcache cache;

        /** Registers the others. */
        @Setup
        public void register(Registered registered) {
            cache = FrontDoor.listingOn(lists, entries);
            registered.others().forEach(cache::registerPod);
            cache.registerPod(registered.stayer);
            read("stayer");
        }

        private void read(String pod) {
            Registered.secrets(pod).forEach(name -> cache.secrets().getObject(NAMESPACE, name));
        }

        /** Ends the threads. */
        @TearDown
        public void close() throws IOException {
            cache.close();
        }
    }

    /** Pods that come together. */
    @State(Scope.Benchmark)
    public static class Crowd {

        private final List<Pod> pods = IntStream.range(0, CROWD)
                .mapToObj(i -> Registered.pod("crowd-" + i))
                .toList();

        /** Holds lists up. */
        @Setup(Level.Invocation)
        public void shut(Ours ours) {
            ours.lists.shut();
        }

        /** Lets them go, and the pods too when all is at rest. */
        @TearDown(Level.Invocation)
        public void rest(Ours ours) {
            ours.lists.open();
            for (Pod pod : pods) {
                ours.read(pod.getMetadata().getName());
                ours.cache.secrets().unregisterPod(pod);
            }
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

    /** Pods come. */
    @Benchmark
    @OperationsPerInvocation(CROWD)
    public void come(Ours ours, Crowd crowd) {
        for (Pod pod : crowd.pods) {
            ours.cache.secrets().registerPod(pod);
        }
    }

    /** A pod comes and goes, whose Secrets another needs all the time. */
    @Benchmark
    public void sharedComeAndGo(Registered registered, Ours ours) {
        ours.cache.secrets().registerPod(registered.sharer);
        ours.cache.secrets().unregisterPod(registered.sharer);
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
