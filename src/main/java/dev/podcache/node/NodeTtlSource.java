package dev.podcache.node;

import dev.podcache.object.Quoted;
import dev.podcache.store.ObjectTtlSource;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The TTL that the control plane wrote to a Node: the annotation {@value #ANNOTATION}, in seconds. The control plane
 * raises it as the cluster grows, so that nodes of big clusters poll less often. Thread-safe.
 *
 * <table>
 * <caption>The TTL by annotation</caption>
 * <tr><th>annotation</th><th>TTL</th></tr>
 * <tr><td>a signed 64-bit decimal</td><td>that number of seconds; a negative number counts as 0, and more than
 * {@code Long.MAX_VALUE} nanoseconds count as that</td></tr>
 * <tr><td>any other text</td><td>the default, with one warning for each text</td></tr>
 * <tr><td>absent, or the Node is unknown</td><td>the default</td></tr>
 * </table>
 *
 * <p>Follows {@code GetObjectTTLFromNodeFunc} of the kubelet's {@code pkg/kubelet/util/manager/cache_based_manager.go},
 * except that the annotation is parsed when the Node changes and not at each use.
 */
public final class NodeTtlSource implements ObjectTtlSource, AutoCloseable {

    /** Written by the ttl controller of kube-controller-manager. */
    public static final String ANNOTATION = "node.alpha.kubernetes.io/ttl";

    private static final Logger log = LoggerFactory.getLogger(NodeTtlSource.class);
    private static final Pattern DECIMAL = Pattern.compile("[+-]?[0-9]+");
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private final NodeLister lister;
    private final long defaultNanos;
    private final Runnable listener = this::read;
    private volatile Ttl ttl;
    private volatile @Nullable String warnedValue;

    private record Ttl(long nanos, String origin) {}

    private NodeTtlSource(NodeLister lister, Duration defaultTtl) {
        this.lister = lister;
        this.defaultNanos = TimeUnit.NANOSECONDS.convert(defaultTtl);
        this.ttl = new Ttl(defaultNanos, "default");
    }

    /**
     * Returns a source that reads the Node of {@code lister} now and at each change.
     *
     * @param defaultTtl at least 0
     * @return must be closed before {@code lister}, which it does not close
     * @throws IllegalArgumentException if {@code defaultTtl} is negative
     */
    public static NodeTtlSource of(NodeLister lister, Duration defaultTtl) {
        if (defaultTtl.isNegative()) {
            throw new IllegalArgumentException(
                    "defaultTtl must be at least 0, which means always refetch, but is " + defaultTtl);
        }
        NodeTtlSource source = new NodeTtlSource(lister, defaultTtl);
        lister.addListener(source.listener);
        try {
            source.read();
        } catch (Throwable e) {
            lister.removeListener(source.listener);
            throw e;
        }
        return source;
    }

    @Override
    public long ttlNanos() {
        return ttl.nanos;
    }

    @Override
    public String origin() {
        return ttl.origin;
    }

    /** Stops listening to the lister. Keeps the last TTL. Idempotent. */
    @Override
    public void close() {
        lister.removeListener(listener);
    }

    // synchronized because the first call, in of(), may run concurrently with a change; only the log is called inside
    private synchronized void read() {
        Optional<Node> node = lister.get();
        if (node.isEmpty()) {
            ttl = byDefault(lister.problem().orElse("Node " + lister.name() + " is not known"));
            return;
        }
        Map<String, String> annotations = node.get().getMetadata().getAnnotations();
        String value = annotations == null ? null : annotations.get(ANNOTATION);
        Long seconds = value == null ? null : parse(value);
        if (value == null) {
            ttl = byDefault("Node " + lister.name() + " has no annotation " + ANNOTATION);
        } else if (seconds == null) {
            warn(value);
            ttl = byDefault("annotation " + ANNOTATION + " of Node " + lister.name() + " is " + Quoted.value(value)
                    + ", which is not a number of seconds");
        } else {
            ttl = new Ttl(nanos(seconds), "annotation " + ANNOTATION + " of Node " + lister.name());
        }
    }

    private Ttl byDefault(String why) {
        return new Ttl(defaultNanos, "default, " + why);
    }

    private void warn(String value) {
        if (!value.equals(warnedValue)) {
            warnedValue = value;
            log.warn(
                    "annotation {} of Node {} is {}, which is not a number of seconds; using the default of {} s."
                            + " Correct it with: kubectl annotate node {} --overwrite {}=60",
                    ANNOTATION,
                    lister.name(),
                    Quoted.value(value),
                    defaultNanos / NANOS_PER_SECOND,
                    lister.name(),
                    ANNOTATION);
        }
    }

    private static long nanos(long seconds) {
        return seconds > Long.MAX_VALUE / NANOS_PER_SECOND ? Long.MAX_VALUE : Math.max(0, seconds) * NANOS_PER_SECOND;
    }

    private static @Nullable Long parse(String value) {
        if (!DECIMAL.matcher(value).matches()) {
            return null;
        }
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException tooLong) {
            return null;
        }
    }
}
