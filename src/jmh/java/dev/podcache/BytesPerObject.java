package dev.podcache;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.google.common.io.Closer;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.informers.impl.cache.CacheImpl;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * How much memory does an object cost, and does that depend on how many there are?
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.BytesPerObject
 * }</pre>
 *
 * <p>Secrets of 1,500 random bytes (2,000 characters of base64), five to a pod, all registered and read through the
 * front door of a {@link Podcache} in each strategy, next to a map of the same objects, which is the least, and to the
 * store of fabric8's informer. {@code heapBytesPerObject} is the growth of the used heap after full collections,
 * divided; what is needed once is in it, so with few objects it says little. Connections are not in it: the parts
 * {@code sync} and {@code memory} of {@link ScaleRun} have those, and informers at work. Prints a JSON object for each
 * figure. The first round, which loads classes, is not printed.
 */
public final class BytesPerObject {

    private static final String NAMESPACE = "scale";
    private static final int PAYLOAD = 1_500;
    private static final int REFERENCES = 5;
    private static final int[] SIZES = {10, 100, 1_000, 10_000};

    private final JsonMapper json = new JsonMapper();
    private final Random random = new Random(1);

    private BytesPerObject() {}

    /** Takes no arguments. */
    public static void main(String[] args) throws Exception {
        BytesPerObject bytes = new BytesPerObject();
        for (int objects : SIZES) {
            bytes.measureAll(objects, objects > SIZES[0]);
        }
        bytes.measureAll(SIZES[0], true);
    }

    private void measureAll(int objects, boolean printed) throws Exception {
        List<ObjectKey> keys = IntStream.range(0, objects)
                .mapToObj(i -> ObjectKey.of(NAMESPACE, "s" + i))
                .toList();
        Map<String, Function<Closer, Object>> holders = new LinkedHashMap<>();
        holders.put("map", closer -> {
            Map<ObjectKey, Secret> map = new ConcurrentHashMap<>();
            keys.forEach(key -> map.put(key, secret(key)));
            return map;
        });
        holders.put("informer", closer -> {
            CacheImpl<Secret> cache = new CacheImpl<>();
            keys.forEach(key -> cache.put(secret(key)));
            return cache;
        });
        holders.put("TTL", closer -> registered(FrontDoor.Entries.TTL, keys, closer));
        holders.put("WATCH", closer -> registered(FrontDoor.Entries.WATCH, keys, closer));
        for (Map.Entry<String, Function<Closer, Object>> holder : holders.entrySet()) {
            measure(holder.getKey(), holder.getValue(), objects, printed);
        }
    }

    private void measure(String name, Function<Closer, Object> holder, int objects, boolean printed) throws Exception {
        try (Closer closer = Closer.create()) {
            List<Object> held = new ArrayList<>(1);
            Footprint before = Footprint.now();
            held.add(holder.apply(closer));
            long growth = before.heapGrowth();
            if (printed) {
                print(name, objects, growth);
            }
            // what is held must live until here
            held.clear();
        }
    }

    private Podcache registered(FrontDoor.Entries entries, List<ObjectKey> keys, Closer closer) {
        Podcache cache = FrontDoor.open(entries, this::secret);
        closer.register(cache::close);
        for (int first = 0; first < keys.size(); first += REFERENCES) {
            List<String> names = keys.subList(first, Math.min(keys.size(), first + REFERENCES)).stream()
                    .map(ObjectKey::name)
                    .toList();
            cache.registerPod(SomePod.of(NAMESPACE, "p" + first, names, List.of()));
        }
        keys.forEach(key -> cache.secrets().getObject(key.namespace(), key.name()));
        return cache;
    }

    /** Like one that was decoded: it shares nothing with any other. */
    private synchronized Secret secret(ObjectKey key) {
        byte[] payload = new byte[PAYLOAD];
        random.nextBytes(payload);
        Secret secret = Kind.secret(ObjectKey.of(
                new String(key.namespace().toCharArray()), new String(key.name().toCharArray())));
        secret.setData(new LinkedHashMap<>(Map.of("value", Base64.getEncoder().encodeToString(payload))));
        return secret;
    }

    private void print(String name, int objects, long bytes) throws JsonProcessingException {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("heldBy", name);
        figures.put("objects", objects);
        figures.put("heapBytesPerObject", bytes / objects);
        System.out.println(json.writeValueAsString(figures));
    }
}
