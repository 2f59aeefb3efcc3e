package dev.podcache;

import com.google.common.io.Closer;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
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
 * What does a get cost that is answered from memory?
 *
 * <p>Objects of one namespace, at random, by strings that are equal to, but not the same as, those that the maps hold;
 * each thread in an order of its own, which is at least four times as long as there are objects. Ours are asked through
 * the front door that users have, the others directly. What is measured is the only one of its JVM, as in a real
 * process. The limit is {@code CONCURRENT_HASH_MAP}.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.args="GetHit -t 1 -prof gc"
 * mvn -q -Pjmh verify -Djmh.args="GetHit -t 8 -prof gc"
 * mvn -q -Pjmh verify -Djmh.args="GetHit -p by=TTL,WATCH,CONCURRENT_HASH_MAP -p objects=10,100,1000,10000 -p keys=UNIFORM,ZIPF"
 * mvn -q -Pjmh verify -Djmh.args="GetHit -p by=TTL,TTL_RECORDED,WATCH,WATCH_RECORDED -t 2 -prof gc"
 * mvn -q -Pjmh verify -Djmh.args="GetHit -p by=TTL_LISTENED,WATCH_LISTENED,CONCURRENT_HASH_MAP -prof gc"
 * mvn -q -Pjmh verify -Djmh.args="GetHit -p by=TTL,TTL_OF_OWNER,TTL_ON_BEHALF,WATCH,WATCH_OF_OWNER,WATCH_ON_BEHALF -prof gc"
 * mvn -q -Pjmh verify -Djmh.args="GetHit -p by=TTL,WATCH -p kind=SECRET,CONFIG_MAP -prof gc"
 * }</pre>
 *
 * <p>With 8 threads the score is the time of each thread; divided by 8 it is nanoseconds per get in all.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(5)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class GetHitBenchmark {

    private static final String NAMESPACE = "shop";
    private static final int SHORTEST_ORDER = 4_096;

    private static List<String> names(int objects) {
        return IntStream.range(0, objects).mapToObj(i -> "object-" + i).toList();
    }

    /** What is asked. */
    @State(Scope.Benchmark)
    public static class HeldObjects {

        /** Whom. */
        @Param
        public HeldBy by;

        /** For what. */
        @Param("SECRET")
        public Kind kind;

        /** How many there are. */
        @Param("512")
        public int objects;

        private final Closer closer = Closer.create();
        private Lookup lookup;

        /** Puts everything in. */
        @Setup
        public void fill() {
            lookup = held(by);
        }

        /** Holds the same objects in another way, until the end. */
        Lookup held(HeldBy way) {
            return way.hold(new HeldBy.Objects(kind, NAMESPACE, names(objects)), closer);
        }

        HasMetadata find(RequestOrder requests) {
            return requests.next(lookup);
        }

        /** Ends the threads. */
        @TearDown
        public void close() throws IOException {
            closer.close();
        }
    }

    /** What a thread asks for, in its own order. */
    @State(Scope.Thread)
    public static class RequestOrder {

        /** How often each. */
        @Param("UNIFORM")
        public KeyOrder keys;

        private final String namespace = copy(NAMESPACE);
        private String[] names;
        private int next;

        /** Draws the order. */
        @Setup
        public void draw(HeldObjects held) {
            SplittableRandom random =
                    new SplittableRandom(Thread.currentThread().getId());
            int length = Math.max(SHORTEST_ORDER, Integer.highestOneBit(held.objects) * 8);
            String[] distinct =
                    names(held.objects).stream().map(RequestOrder::copy).toArray(String[]::new);
            names = IntStream.of(keys.draw(length, held.objects, random))
                    .mapToObj(i -> distinct[i])
                    .toArray(String[]::new);
        }

        /** Asks for the next object. */
        HasMetadata next(Lookup lookup) {
            return lookup.find(namespace, names[next++ & (names.length - 1)]);
        }

        private static String copy(String text) {
            return new String(text.toCharArray());
        }
    }

    /** A hit. */
    @Benchmark
    public HasMetadata hit(HeldObjects held, RequestOrder requests) {
        return held.find(requests);
    }
}
