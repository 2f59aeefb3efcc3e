package dev.podcache.apiserver.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.apiserver.fabric8.Decoders;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.WatchEvent;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What does it cost to make objects of the bytes of a watch?
 *
 * <p>100 events of Secrets of 1,500 random bytes, word for word as a kube-apiserver v1.20 sends them, managed fields
 * included, cut into chunks without regard for lines. All figures are for one event, about 2.6 KB long; {@code -prof
 * gc} says what it allocates. The baselines begin behind the lines: one reads the whole event as fabric8's own watch
 * does, the other only builds Jackson's tree of it.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.args="WatchEvent -prof gc"
 * }</pre>
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(3)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@State(Scope.Benchmark)
public class WatchEventBenchmark {

    private static final int EVENTS = 100;
    private static final int PAYLOAD = 1_500;
    private static final int LONGEST = 1 << 22;
    private static final String EVENT =
            "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":"
                    + "{\"name\":\"s%1$d\",\"namespace\":\"scale\",\"uid\":\"61b28064-d49f-4a5e-8f74-1a1de1cf7f1b\",\"resourceVersion\":\"%2$d\","
                    + "\"creationTimestamp\":\"2026-11-21T15:15:24Z\",\"labels\":{\"app\":\"shop\"},\"managedFields\":[{\"manager\":"
                    + "\"fabric8-kubernetes-client\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"2026-11-21T15:15:24Z\",\"fieldsType\":"
                    + "\"FieldsV1\",\"fieldsV1\":{\"f:data\":{\".\":{},\"f:value\":{}},\"f:metadata\":{\"f:labels\":{\".\":{},\"f:app\":{}}},"
                    + "\"f:type\":{}}}]},\"data\":{\"value\":\"%3$s\"},\"type\":\"Opaque\"}}\n";

    /** The longest chunk, in bytes: what one read brings. */
    @Param({"1024", "16384"})
    public int chunk;

    private final KubernetesSerialization serialization = new KubernetesSerialization();
    private final ObjectMapper mapper = new ObjectMapper();
    private final WatchReader<Secret> events = new WatchReader<>(
            ServerRequest.get("WATCH secrets", "/"),
            LONGEST,
            new ReceiveBudget(1 << 30, Timekeeper.system()),
            Decoders.of(ObjectKind.SECRET, serialization),
            event -> {},
            () -> {});
    private final List<byte[]> chunks = new ArrayList<>();
    private final List<String> lines = new ArrayList<>();

    /** Makes the stream. */
    @Setup
    public void stream() {
        Random random = new Random(1);
        StringBuilder stream = new StringBuilder();
        for (int i = 0; i < EVENTS; i++) {
            byte[] payload = new byte[PAYLOAD];
            random.nextBytes(payload);
            String event = EVENT.formatted(i, 1_000 + i, Base64.getEncoder().encodeToString(payload));
            stream.append(event);
            lines.add(event);
        }
        byte[] bytes = stream.toString().getBytes(UTF_8);
        for (int from = 0; from < bytes.length; from += chunk) {
            chunks.add(Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + chunk)));
        }
    }

    /** Ours, from chunks to objects. */
    @Benchmark
    @OperationsPerInvocation(EVENTS)
    public void podcache(Blackhole blackhole) {
        LineDecoder decoder = new LineDecoder(LONGEST);
        for (byte[] each : chunks) {
            decoder.accept(each, (bytes, offset, length) -> blackhole.consume(events.decode(bytes, offset, length)));
        }
    }

    /** Only the lines. */
    @Benchmark
    @OperationsPerInvocation(EVENTS)
    public void linesOnly(Blackhole blackhole) {
        LineDecoder decoder = new LineDecoder(LONGEST);
        for (byte[] each : chunks) {
            decoder.accept(each, (bytes, offset, length) -> blackhole.consume(length));
        }
    }

    /** What fabric8's watch makes of a line. */
    @Benchmark
    @OperationsPerInvocation(EVENTS)
    public void fabric8(Blackhole blackhole) {
        for (String line : lines) {
            blackhole.consume(serialization.unmarshal(line, WatchEvent.class));
        }
    }

    /** A tree, which is no object yet. */
    @Benchmark
    @OperationsPerInvocation(EVENTS)
    public void jacksonTree(Blackhole blackhole) throws JsonProcessingException {
        for (String line : lines) {
            blackhole.consume(mapper.readTree(line));
        }
    }
}
