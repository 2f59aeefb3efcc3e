package dev.podcache;

import com.sun.management.ThreadMXBean;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.AuxCounters;
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
 * <p>A pod with five Secrets comes and goes, or is registered again unchanged, beside pods that refer to {@code objects}
 * others, five each. Every call gets a pod that was just decoded from JSON, as an informer hands it out: an object of
 * its own whose texts have not been hashed yet. Counter {@code bytes} divided by {@code pods} is what a pod allocates;
 * {@code -prof gc} would count the decoding too.
 *
 * <ul>
 *   <li>{@code comeAndGo}: no other pod refers to the Secrets. Under WATCH this begins and ends five watches on other
 *       threads, faster than those can work, so measure it under TTL.
 *   <li>{@code sharedComeAndGo}: another pod refers to the same Secrets all the time, so that under WATCH their watches
 *       stay.
 *   <li>{@code comeAgain}: the pod is registered and has not changed.
 *   <li>{@code frontDoorComeAndGo}: a pod comes and goes at both managers, Secrets and ConfigMaps.
 *   <li>{@code kubelet...}: the kubelet's algorithm in Java, Secrets only.
 * </ul>
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.args="RegisterPod -p entries=TTL"
 * mvn -q -Pjmh verify -Djmh.args="RegisterPod -p objects=10,100,1000,10000 -p entries=TTL"
 * mvn -q -Pjmh verify -Djmh.args="RegisterPodBenchmark.sharedComeAndGo -p entries=WATCH"
 * }</pre>
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(5)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class RegisterPodBenchmark {

    private static final String NAMESPACE = "shop";
    private static final int REFERENCES = 5;
    private static final int PODS = 100;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static Pod pod(String name, String secretsOf) {
        List<String> secrets = IntStream.range(0, REFERENCES)
                .mapToObj(i -> secretsOf + "-" + i)
                .toList();
        return SomePod.of(NAMESPACE, name, secrets, List.of());
    }

    /** What is registered already. */
    @State(Scope.Benchmark)
    public static class Registered {

        /** How many objects. */
        @Param("500")
        public int objects;

        /** The others, and a pod that stays. */
        List<Pod> pods() {
            List<Pod> pods = new ArrayList<>();
            for (int i = 0; i < objects / REFERENCES; i++) {
                pods.add(pod("other-" + i, "other-" + i));
            }
            pods.add(pod("stayer", "stayer"));
            return pods;
        }
    }

    /** Podcache. */
    @State(Scope.Benchmark)
    public static class PodcacheManager {

        /** How entries are kept. */
        @Param({"TTL", "WATCH"})
        public FrontDoor.Entries entries;

        private Podcache cache;

        /** Registers the others. */
        @Setup
        public void register(Registered registered) {
            cache = FrontDoor.open(entries);
            registered.pods().forEach(cache::registerPod);
            for (int i = 0; i < REFERENCES; i++) {
                cache.secrets().getObject(NAMESPACE, "stayer-" + i);
            }
        }

        /** Ends the threads. */
        @TearDown
        public void close() throws IOException {
            cache.close();
        }
    }

    /** The kubelet's way. */
    @State(Scope.Benchmark)
    public static class Kubelet {

        private final TwoMutexManager manager = new TwoMutexManager();

        /** Registers the others. */
        @Setup
        public void register(Registered registered) {
            registered.pods().forEach(manager::registerPod);
        }
    }

    /** What the calls allocated, without the decoding. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Allocated {

        /** By all calls. */
        public long bytes;

        /** For how many pods. */
        public long pods;
    }

    /** Pods that were just decoded, equal to each other. */
    public abstract static class Fresh {

        private final KubernetesSerialization serialization = new KubernetesSerialization();
        private final List<Pod> pods = new ArrayList<>();
        private final String json;

        Fresh(Pod pod) {
            json = serialization.asJson(pod);
        }

        /** Decodes them. */
        @Setup(Level.Invocation)
        public void decode() {
            pods.clear();
            for (int i = 0; i < PODS; i++) {
                pods.add(serialization.unmarshal(json, Pod.class));
            }
        }

        void each(Consumer<Pod> call, Allocated allocated) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (Pod pod : pods) {
                call.accept(pod);
            }
            allocated.bytes += THREADS.getCurrentThreadAllocatedBytes() - before;
            allocated.pods += pods.size();
        }
    }

    /** A pod with Secrets of its own. */
    @State(Scope.Thread)
    public static class Comers extends Fresh {

        /** Makes one. */
        public Comers() {
            super(pod("comer", "comer"));
        }
    }

    /** A pod with the Secrets of the one that stays. */
    @State(Scope.Thread)
    public static class Sharers extends Fresh {

        /** Makes one. */
        public Sharers() {
            super(pod("sharer", "stayer"));
        }
    }

    /** The pod that stays. */
    @State(Scope.Thread)
    public static class Stayers extends Fresh {

        /** Makes one. */
        public Stayers() {
            super(pod("stayer", "stayer"));
        }
    }

    /** A pod comes and goes. */
    @Benchmark
    @OperationsPerInvocation(PODS)
    public void comeAndGo(PodcacheManager ours, Comers comers, Allocated allocated) {
        comers.each(
                pod -> {
                    ours.cache.secrets().registerPod(pod);
                    ours.cache.secrets().unregisterPod(pod);
                },
                allocated);
    }

    /** A pod comes and goes whose Secrets another pod needs all the time. */
    @Benchmark
    @OperationsPerInvocation(PODS)
    public void sharedComeAndGo(PodcacheManager ours, Sharers sharers, Allocated allocated) {
        sharers.each(
                pod -> {
                    ours.cache.secrets().registerPod(pod);
                    ours.cache.secrets().unregisterPod(pod);
                },
                allocated);
    }

    /** A pod is registered again, unchanged. */
    @Benchmark
    @OperationsPerInvocation(PODS)
    public void comeAgain(PodcacheManager ours, Stayers stayers, Allocated allocated) {
        stayers.each(ours.cache.secrets()::registerPod, allocated);
    }

    /** A pod comes and goes, both managers. */
    @Benchmark
    @OperationsPerInvocation(PODS)
    public void frontDoorComeAndGo(PodcacheManager ours, Comers comers, Allocated allocated) {
        comers.each(
                pod -> {
                    ours.cache.registerPod(pod);
                    ours.cache.unregisterPod(pod);
                },
                allocated);
    }

    /** A pod comes and goes, the kubelet's way. */
    @Benchmark
    @OperationsPerInvocation(PODS)
    public void kubeletComeAndGo(Kubelet kubelet, Comers comers, Allocated allocated) {
        comers.each(
                pod -> {
                    kubelet.manager.registerPod(pod);
                    kubelet.manager.unregisterPod(pod);
                },
                allocated);
    }

    /** A pod is registered again, unchanged, the kubelet's way. */
    @Benchmark
    @OperationsPerInvocation(PODS)
    public void kubeletComeAgain(Kubelet kubelet, Stayers stayers, Allocated allocated) {
        stayers.each(kubelet.manager::registerPod, allocated);
    }
}
